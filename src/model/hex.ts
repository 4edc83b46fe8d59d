const HEX_TEXT = /^0x[0-9a-fA-F]+$/;

/**
 * Reads a `0x` hex number of at most `size` bytes into exactly `size` big-endian bytes. Leading zeros may be dropped
 * or kept: two texts of one number give the same bytes.
 * @returns the bytes, or `undefined` when the text is not `0x` and hex digits or the number needs more than `size` bytes.
 */
export function parseHex(text: string, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(size);
  return parseHexInto(text, bytes, 0, size) ? bytes : undefined;
}

/** The same into a part of `out`. @returns whether the text is such a number; where it is not, nothing is written. */
export function parseHexInto(text: string, out: Buffer, offset: number, size: number): boolean {
  if (text.length > size * 2 + 2 || !HEX_TEXT.test(text)) return false;
  out.write(text.slice(2).padStart(size * 2, '0'), offset, size, 'hex');
  return true;
}

/** `0x` and two lower-case digits a byte. */
export function toHex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`;
}
