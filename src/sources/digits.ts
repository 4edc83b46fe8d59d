import { readDecimal } from '../model/decimal.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../model/price.js';
import { PRICE_DECIMALS } from '../wire/quantized_price.js';

/**
 * Reads the digits of a market's number, such as `62807.0`, `0.00005100` or `5.1e-05`. Also reads the shortest text of a double
 * (`String(number)`).
 * @returns the number times 10^18; digits after the 18th decimal are cut off. `undefined` if the text is not a number, or if the value
 * needs more than 16 bytes.
 */
export function parseDigits(text: string): Price | undefined {
  return parseShortDigits(text) ?? parseAnyDigits(text);
}

/** The largest number of digits that a double holds exactly. */
const DOUBLE_DIGITS = 15;
const ZERO = 48;
const POINT = 46;

/**
 * Reads digits with a point, such as `62807.05`, or without one. A double holds them exactly, so this takes a quarter of the time of a
 * pattern.
 * @returns `undefined` for a longer number or another form
 */
function parseShortDigits(text: string): Price | undefined {
  const { length } = text;
  if (length > DOUBLE_DIGITS + 1) return undefined;
  let digits = 0;
  let point = length;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const digit = code - ZERO;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (code === POINT && point === length && i > 0 && i < length - 1) point = i;
    else return undefined;
  }
  if (length === 0 || (point === length && length > DOUBLE_DIGITS)) return undefined;
  const decimals = point === length ? 0 : length - 1 - point;
  return (BigInt(digits) * POWERS[PRICE_DECIMALS - decimals]!) as Price;
}

function parseAnyDigits(text: string): Price | undefined {
  const { value } = readDecimal(text, PRICE_DECIMALS) ?? {};
  return value === undefined || value > PRICE_MAX || value < PRICE_MIN ? undefined : (value as Price);
}

const POWERS = Array.from({ length: PRICE_DECIMALS + 1 }, (_, i) => 10n ** BigInt(i));

/**
 * The strings and numbers of a JSON text. The pattern also matches a string without an end, so that a search never begins inside a string.
 */
const STRINGS_AND_NUMBERS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|-?\d[\d.eE+-]*/g;

/**
 * Reads JSON as `JSON.parse` does, but turns every number into the text of its digits. A double would lose trailing zeros, and some digits
 * of integers above 2^53.
 * @throws SyntaxError when the text is not JSON
 */
export function parseJsonDigits(text: string): unknown {
  return JSON.parse(text.replace(STRINGS_AND_NUMBERS, (token) => (token[0] === '"' ? token : `"${token}"`)));
}

/** The numbers of two fields. A quote inside a string is escaped, so the pattern matches nothing inside a string. */
const BEST_PRICES = /"(bid|ask)"\s*:\s*(-?\d[\d.eE+-]*)/g;

/**
 * Reads JSON as {@link parseJsonDigits} does, but turns only the numbers of the fields `bid` and `ask` into texts. A ticker has ten other
 * numbers.
 * @throws SyntaxError when the text is not JSON
 */
export function parseBestDigits(text: string): unknown {
  return JSON.parse(text.replace(BEST_PRICES, '"$1":"$2"'));
}
