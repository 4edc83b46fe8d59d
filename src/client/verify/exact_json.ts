import { foreignJsonFault } from './foreign_json.js';

/**
 * The first character of a text that represents a number while JSON is read or written. JSON text can contain this character only in
 * escaped form.
 */
const MARK = '\u0001';
const ESCAPED_MARK = '\\u0001';
/**
 * A string, or a quote without a closing quote and everything after it. The search therefore never starts again inside a string, and
 * takes linear time.
 */
const STRING = '"[^"\\\\]*(?:\\\\[^][^"\\\\]*)*(?:"(\\s*:)?|\\\\?$)';
const STRINGS = new RegExp(STRING, 'g');
const STRINGS_AND_NUMBERS = new RegExp(`${STRING}|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?`, 'g');
const INTEGER = /^-?\d+$/;

/** A number that is not an integer, stored with its digits. */
export class ExactNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/**
 * Parses JSON without losing a digit. Integers become bigints, and other numbers become objects with their text. Parsing
 * takes linear time for any text, except for integers with more than some thousand digits.
 * @returns the value, or `undefined` when `text` is not JSON, or has more than 32 levels or 600,000 values
 */
export function parseExactJson(text: string): unknown {
  if (foreignJsonFault(text) !== undefined) return undefined;
  try {
    const marked = text.replace(STRINGS_AND_NUMBERS, (token: string, colon?: string) => {
      if (!token.startsWith('"')) return `"${ESCAPED_MARK}${token}"`;
      return isMarked(token, colon) ? `"${ESCAPED_MARK}${token.slice(1)}` : token;
    });
    return JSON.parse(marked, (_key, value) => {
      if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
      const rest = value.slice(MARK.length);
      if (rest.startsWith(MARK)) return rest;
      return INTEGER.test(rest) ? BigInt(rest) : new ExactNumber(rest);
    });
  } catch {
    return undefined;
  }
}

/** Writes JSON with all digits of each bigint. This is the counterpart of {@link parseExactJson}. */
export function writeExactJson(value: object): string {
  const marked = JSON.stringify(value, (_key, one: unknown) => {
    if (typeof one === 'bigint' || one instanceof ExactNumber) return MARK + one;
    return typeof one === 'string' && one.startsWith(MARK) ? MARK + one : one;
  });
  return marked.replace(STRINGS, (token: string, colon?: string) => {
    if (!isMarked(token, colon)) return token;
    const rest = token.slice(1 + ESCAPED_MARK.length);
    return rest.startsWith(ESCAPED_MARK) ? `"${rest}` : rest.slice(0, -1);
  });
}

/** Returns whether a string of a JSON text begins with the mark. Keys do not count. */
function isMarked(token: string, colon: string | undefined): boolean {
  return colon === undefined && token.startsWith(`"${ESCAPED_MARK}`);
}
