import type { Problem } from '../config/document.js';
import { shownText } from '../config/shown_text.js';
import type { AssetInput } from './plan.js';
import { BUILT_IN_KINDS, type SourcesContent } from './sources_schema.js';

const INPUT = /^(\S+) (\S+)(?: \* (\S+))?$/;
const PAIR = /^[A-Z0-9]{1,20}\/[A-Z0-9]{1,20}$/;

/** Reads `kraken BTC/USD` or `binance BTC/USDT * USDTUSD`; `undefined` when the text has another form. */
export function parseInput(text: string): AssetInput | undefined {
  const [, source, symbol, conversion] = INPUT.exec(text) ?? [];
  return source === undefined ? undefined : { source, symbol: symbol!, conversion };
}

/** Finds contradictions between the keys of a file that matches its schema. */
export function* sourcesProblems({ sources, assets }: SourcesContent): Generator<Problem> {
  const kinds = new Map(Object.entries(sources).map(([name, { kind }]) => [name, kind]));
  const builtIn = new Set<string>(BUILT_IN_KINDS);
  yield* repeatedExchanges(sources);
  for (const [symbol, { from, min_sources }] of Object.entries(assets)) {
    const seen = new Set<string>();
    const named = new Set<string>();
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
      named.add(input.source);
    }
    if (min_sources > named.size)
      yield {
        path: ['assets', symbol, 'min_sources'],
        message: `${min_sources} sources are needed, but from names ${named.size}; name more of them, or set min_sources lower`,
      };
  }
  yield* circles(assets);
}

/** Finds exchanges with two names. Both names would count as sources, so one exchange alone would reach `min_sources`. */
function* repeatedExchanges(sources: SourcesContent['sources']): Generator<Problem> {
  const names = new Map<string, string>();
  for (const [name, source] of Object.entries(sources)) {
    if (source.kind === 'http' || source.kind === 'command') continue;
    const exchange = source.kind === 'ccxt' ? source.exchange : `${source.kind}${source.url ?? ''}`;
    const first = names.get(exchange);
    if (first === undefined) names.set(exchange, name);
    else
      yield {
        path: ['sources', name],
        message: `the same exchange as ${first}; with two names it would count as two sources`,
      };
  }
}

/** Finds circular conversions: an asset that is converted by itself, directly or through other assets. */
function* circles(assets: SourcesContent['assets']): Generator<Problem> {
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
