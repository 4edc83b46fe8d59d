import type { SourceDefinition } from './sources_schema.js';

/** Exchanges of ccxt that show the order books of another exchange. */
const SAME_ENGINE: Readonly<Record<string, string>> = {
  coinbaseadvanced: 'coinbase',
  coinbaseexchange: 'coinbase',
  bequant: 'hitbtc',
  fmfwio: 'hitbtc',
  myokx: 'okx',
  okxus: 'okx',
  bybiteu: 'bybit',
  gateio: 'gate',
  huobi: 'htx',
  bitfinex2: 'bitfinex',
};

const BINANCE_US = /^wss?:\/\/[^/?#]*\bbinance\.us(?:[:/?#]|$)/;

/** Returns the name of a source's order books. Two sources with the same name are one source, however many names they have. */
export function orderBooksOf(name: string, source: SourceDefinition): string {
  switch (source.kind) {
    case 'ccxt':
      return SAME_ENGINE[source.exchange] ?? source.exchange;
    case 'http':
      return source.url;
    case 'command':
      return `command ${name}`;
    default:
      // Another address is another way to the same exchange. Only Binance.US has the protocol, but not the order books, of another one.
      return BINANCE_US.test(source.url ?? '') ? 'binanceus' : source.kind;
  }
}

/** Returns a sentence for each order book that several sources of the file show. */
export function sharedOrderBooks(sources: ReadonlyMap<string, SourceDefinition>): string[] {
  const names = new Map<string, string[]>();
  for (const [name, source] of sources) {
    const engine = orderBooksOf(name, source);
    names.set(engine, [...(names.get(engine) ?? []), name]);
  }
  return [...names.values()]
    .filter((shared) => shared.length > 1)
    .map((shared) => `${shared.join(' and ')} show the same order books, so they count as one source`);
}
