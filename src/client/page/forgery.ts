import { decodePayload } from '../index.js';

/** A copy of a received text with one digit of a price changed. */
export interface Forgery {
  readonly text: string;
  /** The place of the changed digit in the copy. */
  readonly at: number;
  /** The digit before the change. */
  readonly before: string;
}

/** The prices in the text of an aggregate: its own, the service's, and the publishers'. */
const PRICES = /"price":\s*"?-?(\d+)/g;
/** The hex digits of the signature, the ID and the price in a payload. */
const SIGNATURE_DIGITS = 130;
const ID_DIGITS = 4;
const PRICE_DIGITS = 32;
/** The number of digits at the end of a price, of which one changes. A change of these digits is small. */
const LOW_DIGITS = 20;

/**
 * Changes a digit of a price in a copy of an answer with one aggregate.
 * @param turn a number from 0, which selects another price and another digit each time
 * @returns `undefined` for an answer without prices
 */
export function forgeAnswer(answer: string, turn: number): Forgery | undefined {
  const prices = [...answer.matchAll(PRICES)];
  const found = prices[turn % prices.length];
  if (found === undefined) return undefined;
  const digits = found[1]!;
  const start = found.index + found[0].length - digits.length;
  return forgeDigit(answer, start + (turn % digits.length), 10);
}

/**
 * Changes a digit of an asset's price in a copy of a payload.
 * @param turn a number from 0, which selects another digit each time
 * @returns `undefined` for a payload without the asset
 */
export function forgeFrame(hex: string, id: number, turn: number): Forgery | undefined {
  const payload = decodePayload(hex);
  const asset = 'assets' in payload ? payload.assets.find((one) => one.id === id) : undefined;
  if (asset === undefined) return undefined;
  const price = BigInt.asUintN(128, asset.value).toString(16).padStart(PRICE_DIGITS, '0');
  const entry = id.toString(16).padStart(ID_DIGITS, '0') + price;
  const start = hex.toLowerCase().indexOf(entry, SIGNATURE_DIGITS);
  if (start < 0) return undefined;
  const low = PRICE_DIGITS - LOW_DIGITS + (turn % LOW_DIGITS);
  return forgeDigit(hex, start + ID_DIGITS + low, 16);
}

/** Replaces a digit by the next higher digit, and the highest digit by the next lower one, so that no first digit becomes 0. */
function forgeDigit(text: string, at: number, base: 10 | 16): Forgery {
  const before = text[at]!;
  const value = Number.parseInt(before, base);
  const after = (value === base - 1 ? value - 1 : value + 1).toString(base);
  return { text: text.slice(0, at) + after + text.slice(at + 1), at, before };
}
