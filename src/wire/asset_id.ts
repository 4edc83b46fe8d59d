import { REST_PATHS } from './paths.js';

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

/** The form of a streaming ID where symbols are names too, such as `#700`. No symbol has this form, so a name never means two assets. */
const ID_NAME = /^#\d+$/;

/** Returns whether a name is a streaming ID, such as `#700`. Every other name is a symbol, `700` too. */
export function isIdName(name: string): boolean {
  return ID_NAME.test(name);
}

/**
 * Returns the streaming ID of an asset that is named by its symbol or as `#` and its ID.
 * @returns `undefined` for the name of no asset
 */
export function namedId(name: string, idOf: (symbol: string) => number | undefined): number | undefined {
  if (!isIdName(name)) return idOf(name);
  const id = Number(name.slice(1));
  return id <= UINT16_MAX ? id : undefined;
}

/**
 * Returns the known symbol that a caller probably means: `BTCUSD` for `btcusd`, `BTC/USD`, `btc-usd` or `BTC-USDT`.
 * @param isKnown returns whether the symbol exists and the caller may see it
 */
export function likelySymbol(symbol: string, isKnown: (symbol: string) => boolean): string | undefined {
  const upper = symbol.toUpperCase();
  const plain = upper.replace(/[^A-Z0-9]/g, '');
  return [upper, plain, plain.replace(/USD[CT]$/, 'USD')].find(
    (likely) => likely !== symbol && isKnown(likely),
  );
}

/** The error for a streaming ID where only symbols are names. */
export const ONLY_SYMBOLS = 'a name such as #700 is a streaming ID, and a symbol is needed here';

/**
 * Lists unknown symbols for an error. If the caller probably means known symbols, ends with a question that names these symbols.
 * @param takesIds true where a streaming ID is a name too
 */
export function unknownSymbols(
  symbols: readonly string[],
  isKnown: (symbol: string) => boolean,
  takesIds = false,
): string {
  const unknown = symbols.map((symbol) => ({ symbol, likely: likelySymbol(symbol, isKnown) }));
  return listUnknown(unknown, takesIds);
}

/** Lists unknown symbols for an error, with the symbols that the caller probably means. */
export function listUnknown(
  unknown: readonly { symbol: string; likely?: string | undefined }[],
  takesIds = false,
): string {
  const names = unknown.map(({ symbol }) => symbol);
  const likely = new Set(unknown.map((one) => one.likely));
  likely.delete(undefined);
  const question =
    likely.size === 0
      ? `; ${REST_PATHS.taxonomy} lists all names`
      : `; did you mean ${[...likely].join(', ')}?`;
  const listRemark = names.some((name) => /[;| ]/.test(name)) ? '; commas separate names' : '';
  const number = names.find((name) => /^\d+$/.test(name));
  const idRemark = takesIds && number !== undefined ? `; a streaming ID is written #${number}` : '';
  const symbolRemark = !takesIds && names.some(isIdName) ? `; ${ONLY_SYMBOLS}` : '';
  return `${names.join(', ')}${question}${listRemark}${idRemark}${symbolRemark}`;
}
