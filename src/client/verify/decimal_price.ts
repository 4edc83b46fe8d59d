import { readDecimal } from '../../model/decimal.js';
import { PRICE_MAX, PRICE_MIN, PRICE_SCALE, type Price } from '../../model/price.js';
import { PRICE_DECIMALS } from '../../wire/quantized_price.js';

/**
 * Reads a real price such as `65000.5`, `-37.70` or `1e-7` exactly.
 * @returns the price times 10^18, or `undefined` when `text` is not a decimal number, needs more than 18 decimal places,
 * is a zero with a sign, or has a value of more than 16 bytes
 */
export function parseDecimalPrice(text: string): Price | undefined {
  const { value, isExact } = readDecimal(text, PRICE_DECIMALS) ?? {};
  if (value === undefined || !isExact || (value === 0n && text.startsWith('-'))) return undefined;
  return value < PRICE_MIN || value > PRICE_MAX ? undefined : (value as Price);
}

/** Writes a price times 10^18 as the real price without trailing zeros. This is the inverse of {@link parseDecimalPrice}. */
export function formatDecimalPrice(price: bigint): string {
  const size = price < 0n ? -price : price;
  const fraction = (size % PRICE_SCALE).toString().padStart(PRICE_DECIMALS, '0').replace(/0+$/, '');
  return `${price < 0n ? '-' : ''}${size / PRICE_SCALE}${fraction === '' ? '' : `.${fraction}`}`;
}
