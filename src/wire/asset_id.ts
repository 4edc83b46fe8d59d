/** The largest streaming asset ID and taxonomy ID, because they are uint16. */
export const UINT16_MAX = 0xffff;

/**
 * The form of a symbol, as a regular expression with the flag `u`. Commas are excluded, because symbols are written in
 * comma-separated lists and in URLs.
 */
export const SYMBOL_PATTERN = '[^\\s\\p{C},"\\\\]{1,64}';
