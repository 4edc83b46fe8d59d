/** The largest streaming asset ID and taxonomy ID. Both IDs are uint16. */
export const UINT16_MAX = 0xffff;

/** The longest symbol, in characters. */
export const SYMBOL_LENGTH_MAX = 64;

/**
 * The form of a symbol in a request, as a regular expression. The expression names only ASCII characters and counts no characters, so
 * that it means the same in every dialect. Commas are excluded, because lists and URLs separate symbols by commas. The configuration
 * excludes more characters.
 */
export const SYMBOL_PATTERN = '[^\\x00-\\x20",\\\\\\x7f]+';

/**
 * Returns the known symbol that a caller probably means: `BTCUSD` for `btcusd`, `BTC/USD` or `btc-usd`.
 * @param isKnown returns whether the symbol exists and the caller may see it
 */
export function likelySymbol(symbol: string, isKnown: (symbol: string) => boolean): string | undefined {
  const upper = symbol.toUpperCase();
  return [upper, upper.replace(/[^A-Z0-9]/g, '')].find((likely) => likely !== symbol && isKnown(likely));
}

/** Lists unknown symbols for an error. If the caller probably means known symbols, ends with a question that names these symbols. */
export function unknownSymbols(symbols: readonly string[], isKnown: (symbol: string) => boolean): string {
  return listUnknown(symbols.map((symbol) => ({ symbol, likely: likelySymbol(symbol, isKnown) })));
}

/** Lists unknown symbols for an error, with the symbols that the caller probably means. */
export function listUnknown(unknown: readonly { symbol: string; likely?: string | undefined }[]): string {
  const likely = new Set(unknown.map((one) => one.likely));
  likely.delete(undefined);
  const question = likely.size === 0 ? '' : `; did you mean ${[...likely].join(', ')}?`;
  return `${unknown.map(({ symbol }) => symbol).join(', ')}${question}`;
}
