/**
 * Returns whether a text has at most this many characters. Characters are Unicode code points, as in JSON Schema's `maxLength`.
 */
export function hasAtMost(charactersMax: number, text: string): boolean {
  if (text.length <= charactersMax) return true;
  // A code point takes at most two UTF-16 code units, and `length` counts these units.
  return text.length <= 2 * charactersMax && [...text].length <= charactersMax;
}

const ENCODER = new TextEncoder();

/**
 * Writes text as UTF-8. Copies ASCII byte by byte, because a call of the encoder takes as long as many characters.
 * @returns the number of written bytes
 */
export function writeText(text: string, out: Uint8Array, offset: number): number {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return ENCODER.encodeInto(text, out.subarray(offset)).written;
    out[offset + i] = code;
  }
  return text.length;
}
