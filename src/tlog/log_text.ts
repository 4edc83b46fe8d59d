import { TlogError } from './tlog_error.js';

// The texts of numbers and bytes in the files of a log. Each value has exactly one valid text.

const DECIMAL = /^(?:0|[1-9]\d{0,18})$/;

/** The largest tree size: 2^63 - 1. Implementations in Go count in int64. */
export const SIZE_MAX = 2n ** 63n - 1n;

/** Returns the Base64 text of RFC 4648 section 4, with padding. */
export function toBase64(bytes: Uint8Array): string {
  let characters = '';
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}

/** Reads Base64 text. Returns `undefined` for any text that differs from the text that `toBase64` writes. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : undefined;
  } catch {
    // The text has characters that are not of Base64.
    return undefined;
  }
}

/** Reads a decimal from 0 to {@link SIZE_MAX} without leading zeros. Returns `undefined` for any other text. */
export function readDecimal(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = BigInt(text);
  return value <= SIZE_MAX ? value : undefined;
}

/**
 * Decodes UTF-8 bytes. Returns a string unchanged.
 * @param subject the name of the file in errors
 * @throws TlogError for invalid UTF-8, lone surrogates, and more than `lengthMax` bytes or characters
 */
export function readText(input: string | Uint8Array, lengthMax: number, subject: string): string {
  if (input.length > lengthMax) throw new TlogError(`${subject} is longer than ${lengthMax}`);
  if (typeof input === 'string') {
    if (/\p{Surrogate}/u.test(input)) throw new TlogError(`${subject} is not valid Unicode`);
    return input;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input);
  } catch {
    throw new TlogError(`${subject} is not valid UTF-8`);
  }
}

/** Returns the lines of a text. @throws TlogError if the last line does not end with a newline */
export function linesOf(text: string, subject: string): string[] {
  if (!text.endsWith('\n')) throw new TlogError(`${subject} does not end with a newline`);
  return text.slice(0, -1).split('\n');
}

export function utf8Bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
