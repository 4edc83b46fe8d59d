import { WORD_BYTES } from '../../wire/signatures.js';

/** The largest length of a number in a signature, a hash or a key. */
const HEX_DIGITS_MAX = WORD_BYTES * 2;
const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const HEX_INTEGER = /^0x[0-9a-fA-F]+$/;

/** Returns `value` as `size` big-endian bytes; a negative `value` is in two's complement. `value` must fit. */
export function integerBytes(value: bigint, size: number): Uint8Array {
  const digits = BigInt.asUintN(size * 8, value).toString(16);
  return hexToBytes(digits.padStart(size * 2, '0'));
}

/** Returns the unsigned big-endian integer in `bytes`, which hold at least one byte. */
export function bytesInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(bytes)}`);
}

/**
 * Reads a `0x` hex integer of at most 32 bytes, in upper or lower case, with or without leading zeros.
 * @returns the integer, or `undefined` when `text` has another form
 */
export function parseHexInteger(text: unknown): bigint | undefined {
  if (typeof text !== 'string' || text.length > HEX_DIGITS_MAX + 2 || !HEX_INTEGER.test(text))
    return undefined;
  return BigInt(text);
}

/** Returns `0x` and two lower-case digits for each byte. */
export function prefixedHex(bytes: Uint8Array): string {
  return `0x${bytesToHex(bytes)}`;
}

/** Returns two lower-case digits for each byte. */
export function bytesToHex(bytes: Uint8Array): string {
  let digits = '';
  for (const byte of bytes) digits += HEX_OF_BYTE[byte];
  return digits;
}

/** Returns the bytes of hex that has two digits for each byte. `digits` must have that form. */
export function hexToBytes(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** Joins the parts in their order. */
export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function utf8ToBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
