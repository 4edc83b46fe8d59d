/** A price: the real price times 10^18, exact, within -2^127 .. 2^127-1 (the 16 bytes of a streaming payload). */
export type Price = bigint & { readonly price: unique symbol };

export const PRICE_SCALE = 10n ** 18n;
export const PRICE_MIN = -(2n ** 127n) as Price;
export const PRICE_MAX = (2n ** 127n - 1n) as Price;

/** Bytes of a price in a streaming payload: a big-endian two's-complement integer. */
export const PRICE_BYTES = 16;

/** 2^127 has 39 digits, and there may be a sign: a longer text is out of range. */
const PRICE_TEXT_LENGTH_MAX = 40;
const PRICE_TEXT = /^-?(?:0|[1-9][0-9]*)$/;

/**
 * Reads a price as it stands on the wire: `-?[0-9]+` without leading zeros, signs or spaces.
 * @returns the price, or `undefined` when the text has another form or the value needs more than 16 bytes.
 */
export function parsePrice(text: string): Price | undefined {
  if (text.length > PRICE_TEXT_LENGTH_MAX || !PRICE_TEXT.test(text)) return undefined;
  const value = BigInt(text);
  return value < PRICE_MIN || value > PRICE_MAX ? undefined : (value as Price);
}

/** Writes `price` as 16 big-endian two's-complement bytes at `offset`. */
export function writePrice(price: Price, out: Uint8Array, offset: number): void {
  // Both calls cut off the higher bits. They take a third of the time of Buffer's own methods for 64 bits.
  SCRATCH.setBigInt64(0, price >> 64n);
  SCRATCH.setBigUint64(8, price);
  out.set(SCRATCH_BYTES, offset);
}

const SCRATCH = new DataView(new ArrayBuffer(PRICE_BYTES));
const SCRATCH_BYTES = new Uint8Array(SCRATCH.buffer);

/** Reads the 16 bytes that {@link writePrice} writes. */
export function readPrice(bytes: Buffer, offset: number): Price {
  return ((bytes.readBigInt64BE(offset) << 64n) | bytes.readBigUInt64BE(offset + 8)) as Price;
}
