import { PRICE_MAX, PRICE_MIN, PRICE_SCALE, type Price } from '../../model/price.js';
import { PRICE_DECIMALS } from '../../wire/quantized_price.js';

/**
 * The pattern of a price with at most {@link PRICE_DECIMALS} decimals. The pattern is a literal, because a bundler can then remove it
 * from a program that parses no price.
 */
const DECIMAL = /^(-?)(0|[1-9][0-9]{0,20})(?:\.([0-9]{1,18}))?$/;

/**
 * Reads a real price such as `65000.5` exactly.
 * @returns the price times 10^18, or `undefined` when `text` is not a plain decimal number, has more than 18 decimal places,
 * is a zero with a sign, or has a value of more than 16 bytes
 */
export function parseDecimalPrice(text: string): Price | undefined {
  const [, sign, whole, fraction = ''] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const size = BigInt(whole) * PRICE_SCALE + BigInt(fraction.padEnd(PRICE_DECIMALS, '0'));
  if (sign === '-' && size === 0n) return undefined;
  const price = sign === '-' ? -size : size;
  return price < PRICE_MIN || price > PRICE_MAX ? undefined : (price as Price);
}

/** Writes a price times 10^18 as the real price without trailing zeros. This is the inverse of {@link parseDecimalPrice}. */
export function formatDecimalPrice(price: bigint): string {
  const size = price < 0n ? -price : price;
  const fraction = (size % PRICE_SCALE).toString().padStart(PRICE_DECIMALS, '0').replace(/0+$/, '');
  return `${price < 0n ? '-' : ''}${size / PRICE_SCALE}${fraction === '' ? '' : `.${fraction}`}`;
}
