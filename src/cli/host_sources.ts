import { type Document, isMap, parseDocument } from 'yaml';
import { parseSources } from '../sources/parse_sources.js';

/** Returns the symbols of all prices that a file of sources publishes. */
export function marketSymbols(template: string): readonly string[] {
  const read = parseSources(template, 'sources.yaml');
  if (!read.ok) throw new Error(read.errors[0]);
  return read.plan.assets.flatMap(({ symbol, isPublished }) => (isPublished ? [symbol] : []));
}

/**
 * Returns a file of sources with some of the assets. Prices that only convert others stay, and are not published.
 * @param template the text of scripts/deploy/sources.yaml
 * @param url the address of the publisher's socket
 * @throws RangeError when the file has no sources of a symbol
 */
export function sourcesText(template: string, symbols: readonly string[], url: string): string {
  const known = marketSymbols(template);
  const missing = symbols.filter((symbol) => !known.includes(symbol));
  if (missing.length > 0)
    throw new RangeError(
      `--sources has no markets of ${missing.join(', ')}; it has those of ${known.join(', ')}`,
    );
  const document = parseDocument(template);
  const converting = new Set(symbols.flatMap((symbol) => conversionsOf(document, symbol)));
  for (const symbol of known) {
    if (symbols.includes(symbol)) continue;
    if (converting.has(symbol)) document.setIn(['assets', symbol, 'publish'], false);
    else document.deleteIn(['assets', symbol]);
  }
  document.setIn(['publish', 'url'], url);
  return document.toString({ lineWidth: 0 });
}

/** Returns the symbols with whose prices the markets of an asset are converted. */
function conversionsOf(document: Document, symbol: string): readonly string[] {
  const asset = document.getIn(['assets', symbol]);
  if (!isMap(asset)) return [];
  const { from } = asset.toJS(document) as { from: readonly string[] };
  return from.flatMap((market) => / [*/] (\w+)$/.exec(market)?.[1] ?? []);
}
