import { LosslessNumber, parse, stringify } from 'lossless-json';

/**
 * Parses JSON without losing a digit: integers become bigints, other numbers keep their text.
 * @returns the value, or `undefined` when `text` is not JSON.
 */
export function parseExactJson(text: string): unknown {
  try {
    return parse(text, null, (digits) =>
      INTEGER.test(digits) ? BigInt(digits) : new LosslessNumber(digits),
    );
  } catch {
    return undefined;
  }
}

/** Writes JSON with every bigint as its digits: the counterpart of {@link parseExactJson}. */
export function writeExactJson(value: object): string {
  return stringify(value)!;
}

const INTEGER = /^-?[0-9]+$/;
