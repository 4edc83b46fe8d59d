/** The largest streaming asset ID and taxonomy ID, because they are uint16. */
export const UINT16_MAX = 0xffff;

/** The longest symbol, in characters. */
export const SYMBOL_LENGTH_MAX = 64;

/**
 * The form of a symbol in a request, as a regular expression that means the same in every dialect: it names ASCII characters only
 * and counts none. Commas are excluded, because symbols are written in comma-separated lists and in URLs. The configuration excludes
 * more characters.
 */
export const SYMBOL_PATTERN = '[^\\x00-\\x20",\\\\\\x7f]+';
