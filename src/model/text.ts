/**
 * Returns whether a text has at most this many characters. Characters are Unicode code points, as in JSON Schema's `maxLength`.
 */
export function hasAtMost(charactersMax: number, text: string): boolean {
  if (text.length <= charactersMax) return true;
  // A code point takes at most two UTF-16 code units, and `length` counts these units.
  return text.length <= 2 * charactersMax && [...text].length <= charactersMax;
}
