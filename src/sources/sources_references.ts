import type { Problem } from '../config/document.js';
import { shownText } from '../config/shown_text.js';
import { orderBooksOf } from './order_books.js';
import { BUILT_IN_KINDS, type SourcesContent } from './sources_schema.js';

const INPUT = /^(\S+) (\S+)(?: ([*/]) (\S+))?$/;
const PAIR = /^[A-Za-z0-9]{1,20}\/[A-Za-z0-9]{1,20}$/;

/** A market as the file names it. */
export interface NamedInput {
  readonly source: string;
  readonly symbol: string;
  /** The asset whose price multiplies or divides the market's price. */
  readonly conversion: string | undefined;
  /** True if the market's price is divided by the price of {@link conversion}. */
  readonly divides: boolean;
}

/** Reads `kraken BTC/USD`, `binance BTC/USDT * USDTUSD` or `bitstamp BTC/EUR / USDEUR`; `undefined` when the text has another form. */
export function parseInput(text: string): NamedInput | undefined {
  const [, source, symbol, sign, conversion] = INPUT.exec(text) ?? [];
  return source === undefined ? undefined : { source, symbol: symbol!, conversion, divides: sign === '/' };
}

/** Finds contradictions between the keys of a file that matches its schema. */
export function* sourcesProblems({ sources, assets }: SourcesContent): Generator<Problem> {
  const kinds = new Map(Object.entries(sources).map(([name, { kind }]) => [name, kind]));
  const builtIn = new Set<string>(BUILT_IN_KINDS);
  for (const [symbol, { from, min_sources }] of Object.entries(assets)) {
    const seen = new Set<string>();
    const engines = new Set<string>();
    for (const [place, text] of from.entries()) {
      const path = ['assets', symbol, 'from', place];
      const input = parseInput(text);
      if (input === undefined) {
        yield {
          path,
          message: 'expected a source and its symbol, such as kraken BTC/USD or binance BTC/USDT * USDTUSD',
        };
        continue;
      }
      const kind = kinds.get(input.source);
      if (kind === undefined) yield { path, message: `no source is named ${shownText(input.source)}` };
      else if (builtIn.has(kind) && !PAIR.test(input.symbol))
        yield { path, message: `expected a pair such as BTC/USD, found ${shownText(input.symbol)}` };
      if (input.conversion !== undefined && !Object.hasOwn(assets, input.conversion))
        yield { path, message: `no asset is named ${shownText(input.conversion)}` };
      if (seen.has(`${input.source} ${input.symbol}`)) yield { path, message: 'the same market twice' };
      seen.add(`${input.source} ${input.symbol}`);
      const source = sources[input.source];
      engines.add(source === undefined ? input.source : orderBooksOf(input.source, source));
    }
    if (min_sources > engines.size)
      yield {
        path: ['assets', symbol, 'min_sources'],
        message: `${min_sources} sources are needed, but from names ${engines.size}; name more of them, or set min_sources lower`,
      };
  }
  yield* circularConversions(assets);
}

/** Finds circular conversions: an asset that is converted by itself, directly or through other assets. */
function* circularConversions(assets: SourcesContent['assets']): Generator<Problem> {
  const done = new Set<string>();
  const visit = function* (symbol: string, way: readonly string[]): Generator<Problem> {
    for (const [place, text] of (assets[symbol]?.from ?? []).entries()) {
      const conversion = parseInput(text)?.conversion;
      if (conversion === undefined || done.has(conversion)) continue;
      const start = [...way, symbol].indexOf(conversion);
      if (start >= 0) {
        const circle = [...[...way, symbol].slice(start), conversion].map(shownText).join(' → ');
        yield {
          path: ['assets', symbol, 'from', place],
          message: `the conversions form a circle: ${circle}`,
        };
      } else yield* visit(conversion, [...way, symbol]);
    }
    done.add(symbol);
  };
  for (const symbol of Object.keys(assets)) if (!done.has(symbol)) yield* visit(symbol, []);
}
