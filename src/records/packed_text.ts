import { writeText } from '../model/text.js';
import { WORD_BYTES } from '../wire/signatures.js';

/** The forms of a packed text, stored in its first byte. */
const UTF8 = 0;
const HEX_EVEN = 1;
/** Hex with an odd number of digits. The first half of the first byte after the form is not part of the text. */
const HEX_ODD = 2;

/** The value of each lower-case hex digit, by UTF-16 code. All other characters have values above 15. */
const LOWER_DIGITS = new Uint8Array(0x10000).fill(0xff);
for (const digit of '0123456789abcdef') LOWER_DIGITS[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

/** The largest number of ASCII characters that are copied one by one. For few characters, a Node function takes longer. */
const COPIED_LENGTH_MAX = 64;

/**
 * Packs a text for storage. Most texts of a signed price are `0x` and lower-case hex; packing these as bytes halves the size of a record.
 * Other texts remain UTF-8. {@link unpackText} returns exactly the same characters.
 */
export function packText(text: string): Uint8Array {
  const packed = Buffer.allocUnsafe(packedBytesMax(text));
  return packed.subarray(0, packTextInto(text, packed, 0));
}

/** Returns the largest possible size of the packed text. */
export function packedBytesMax(text: string): number {
  return 1 + 3 * text.length;
}

/**
 * Packs a text like {@link packText} into `out`, which must have {@link packedBytesMax} free bytes.
 * @returns the size in bytes
 */
export function packTextInto(text: string, out: Buffer, start: number): number {
  return packHexInto(text, out, start) || packUtf8Into(text, out, start);
}

/** @returns the size in bytes; 0 when the text is not lower-case hex */
function packHexInto(text: string, out: Buffer, start: number): number {
  const { length } = text;
  if (length < 3 || !text.startsWith('0x')) return 0;
  let end = start + 1;
  let seen = 0;
  let at = 2;
  out[start] = HEX_EVEN;
  if (length % 2 === 1) {
    out[start] = HEX_ODD;
    seen = LOWER_DIGITS[text.charCodeAt(at++)]!;
    out[end++] = seen;
  }
  while (at < length) {
    const high = LOWER_DIGITS[text.charCodeAt(at++)]!;
    const low = LOWER_DIGITS[text.charCodeAt(at++)]!;
    seen |= high | low;
    out[end++] = (high << 4) | low;
  }
  return seen < 16 ? end - start : 0;
}

function packUtf8Into(text: string, out: Buffer, start: number): number {
  out[start] = UTF8;
  const isLong = text.length > COPIED_LENGTH_MAX;
  return 1 + (isLong ? out.write(text, start + 1) : writeText(text, out, start + 1));
}

/** Reads a text that {@link packText} packed. */
export function unpackText(packed: Uint8Array): string {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  if (bytes[0] === UTF8) return bytes.toString('utf8', 1);
  const digits = bytes.toString('hex', 1);
  return `0x${bytes[0] === HEX_ODD ? digits.slice(1) : digits}`;
}

/** A number of up to 32 bytes, as the two usual texts of such a number write it. */
export interface PackedWord {
  /** The bytes with leading zeros; a part of the packed text if all are there. */
  readonly bytes: Uint8Array;
  /** True when the text has no leading zeros, false when it has all digits. */
  readonly isShort: boolean;
}

/** Returns the number of a packed text. @returns `undefined` when the text is not one of the two usual texts of a number */
export function packedWord(packed: Uint8Array): PackedWord | undefined {
  const [form, first] = packed;
  const length = packed.length - 1;
  if (form === HEX_EVEN && length === WORD_BYTES) return { bytes: packed.subarray(1), isShort: false };
  if (form === UTF8 || length > WORD_BYTES) return undefined;
  const isZero = form === HEX_ODD && length === 1 && first === 0;
  if (!isZero && first! < (form === HEX_ODD ? 1 : 0x10)) return undefined;
  const bytes = new Uint8Array(WORD_BYTES);
  bytes.set(packed.subarray(1), WORD_BYTES - length);
  return { bytes, isShort: true };
}
