import type { MarketSession } from './adapters/market.js';
import { lineSession } from './json_sessions.js';
import type { CcxtTicker } from './markets/ccxt_library.js';

// The requests and frames of a connection through a library. The library implements the exchange's protocol. Requests name symbols; frames
// have best prices.

/** Begins a connection that watches symbols. */
export function watchSession(symbols: readonly string[]): MarketSession {
  return {
    ...lineSession(symbols),
    subscribe: (list) => [JSON.stringify({ watch: list })],
    unsubscribe: (list) => [JSON.stringify({ unwatch: list })],
  };
}

/** Reads a request of {@link watchSession}. */
export function readWatchRequest(text: string): {
  readonly watch: readonly string[];
  readonly unwatch: readonly string[];
} {
  return { watch: [], unwatch: [], ...JSON.parse(text) };
}

type BookLevel = readonly (number | undefined)[];

/** Formats the best prices of a book. JSON has the shortest text of each double. */
export function bookLine(
  symbol: string,
  {
    bids,
    asks,
    timestamp,
  }: { bids: readonly BookLevel[]; asks: readonly BookLevel[]; timestamp?: number | undefined },
): string {
  return JSON.stringify({ symbol, bid: bids[0]?.[0], ask: asks[0]?.[0], at: timestamp });
}

/** Formats the best prices of a ticker or, without best prices, its last trade. */
export function tickerLine(symbol: string, { bid, ask, last, timestamp }: CcxtTicker): string {
  return JSON.stringify({ symbol, bid, ask, price: last, at: timestamp });
}

/** Formats the reason why a symbol has no prices. */
export function failureLine(symbol: string, error: unknown): string {
  return JSON.stringify({ symbol, error: error instanceof Error ? error.message : String(error) });
}
