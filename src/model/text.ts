/** Tells whether a text has at most this many characters (Unicode code points, as JSON Schema's `maxLength` counts them). */
export function hasAtMost(charactersMax: number, text: string): boolean {
  if (text.length <= charactersMax) return true;
  // A code point takes at most two UTF-16 code units, which `length` counts.
  return text.length <= 2 * charactersMax && [...text].length <= charactersMax;
}
