import { PRICE_BYTES, PRICE_DECIMALS, PRICE_PATTERN } from '../wire/quantized_price.js';

/**
 * A price: the real price times 10^18, exact, within -2^127 .. 2^127-1, which is the range of the 16 bytes in a
 * streaming payload.
 */
export type Price = bigint & { readonly price: unique symbol };

export const PRICE_SCALE = 10n ** BigInt(PRICE_DECIMALS);
export const PRICE_MIN = -(1n << BigInt(PRICE_BYTES * 8 - 1)) as Price;
export const PRICE_MAX = (-PRICE_MIN - 1n) as Price;

/** The largest length of a price's text. 2^127 has 39 digits, and a price may have a sign. */
const PRICE_TEXT_LENGTH_MAX = 40;

/**
 * Reads a price in the form of messages: `-?[0-9]+` without leading zeros, `+`, spaces, or a sign before 0.
 * @returns the price, or `undefined` when the text has another form or the value needs more than 16 bytes.
 */
export function parsePrice(text: string): Price | undefined {
  if (text.length > PRICE_TEXT_LENGTH_MAX || !PRICE_PATTERN.test(text)) return undefined;
  const value = BigInt(text);
  return value < PRICE_MIN || value > PRICE_MAX ? undefined : (value as Price);
}

/** Writes `price` as 16 big-endian two's-complement bytes at `offset`. */
export function writePrice(price: Price, out: Uint8Array, offset: number): void {
  // Both calls ignore the higher bits. These calls take 33 % of the time of Buffer's own methods for 64 bits.
  SCRATCH.setBigInt64(0, price >> 64n);
  SCRATCH.setBigUint64(8, price);
  out.set(SCRATCH_BYTES, offset);
}

const SCRATCH = new DataView(new ArrayBuffer(PRICE_BYTES));
const SCRATCH_BYTES = new Uint8Array(SCRATCH.buffer);

/** Reads a price from the 16 bytes that {@link writePrice} writes. */
export function readPrice(bytes: Uint8Array, offset: number): Price {
  SCRATCH_BYTES.set(bytes.subarray(offset, offset + PRICE_BYTES));
  return ((SCRATCH.getBigInt64(0) << 64n) | SCRATCH.getBigUint64(8)) as Price;
}
