import { type OwnTime, parseRfc3339 } from '../market_time.js';
import {
  answeredList,
  DAY_MS,
  digitsOf,
  listOf,
  type Market,
  type MarketEvent,
  namesOf,
  readFrame,
  recordOf,
  refusedEvent,
} from './market.js';

/** The pairs against USDC that have their own book. Every other pair against USDC is an alias of the pair against USD. */
const OWN_USDC_PAIRS = ['USDT/USDC', 'EURC/USDC'];

/**
 * Coinbase Advanced Trade, channel `ticker`. The ticker of Coinbase Exchange is not used, because its best prices are from the last match, which may
 * be minutes old. The channel `heartbeats` keeps the connection open.
 */
export const coinbase: Market = {
  url: 'wss://advanced-trade-ws.coinbase.com',
  pairsUrl: 'https://api.exchange.coinbase.com/products',
  top: {
    url: 'https://api.coinbase.com/api/v3/brokerage/market/products/{symbol}/ticker?limit=1',
    nameOf,
    paths: { bid: '$.best_bid', ask: '$.best_ask' },
  },
  rules: { silenceMs: 5_000, pauseMs: 150, pairsPerSocket: 50, renewMs: DAY_MS },
  readPairs: (text) =>
    answeredList(text, (answer) => answer)
      .map(recordOf)
      .filter(({ id, status }) => typeof id === 'string' && status === 'online')
      .map(({ id }) => pairOf(id as string)),
  objection: (pair) => {
    if (pair === 'USDC/USD') return 'Coinbase exchanges USDC at 1 dollar and has no market for it';
    if (!pair.endsWith('/USDC') || OWN_USDC_PAIRS.includes(pair)) return undefined;
    return `an alias of ${pair.slice(0, -1)} at Coinbase; name that pair`;
  },
  open: (pairs) => {
    const names = namesOf(pairs, nameOf);
    let next: number | undefined;
    const request = (type: string, list: readonly string[]) =>
      JSON.stringify({ type, product_ids: list.map(nameOf), channel: 'ticker' });
    /** Checks the frame numbers, which count the frames of all channels. A missing number is a lost frame. */
    const lost = (sequence: unknown): readonly MarketEvent[] => {
      if (typeof sequence !== 'number') return [];
      const expected = next;
      next = sequence + 1;
      if (expected === undefined || sequence === expected) return [];
      return [{ kind: 'ending', reason: `frame ${expected} was lost` }];
    };
    return {
      subscribe: (list) => [request('subscribe', list), '{"type":"subscribe","channel":"heartbeats"}'],
      unsubscribe: (list) => [request('unsubscribe', list)],
      read: (text) =>
        readFrame(text, JSON.parse, ({ channel, timestamp, sequence_num, events, type, message }) => {
          if (type === 'error') return refusedEvent(undefined, message);
          const found = lost(sequence_num);
          if (channel === 'subscriptions') return [...found, ...listOf(events).flatMap(subscribedEvents)];
          if (channel !== 'ticker') return found;
          const atNs = parseRfc3339(timestamp);
          return [...found, ...listOf(events).flatMap((event) => tickerQuotes(event, names, atNs))];
        }),
    };
  },
};

function subscribedEvents(event: unknown): readonly MarketEvent[] {
  const names = listOf(recordOf(recordOf(event)['subscriptions'])['ticker']);
  const pairs = names.filter((name) => typeof name === 'string').map(pairOf);
  return pairs.length === 0 ? [] : [{ kind: 'subscribed', pairs }];
}

/** Returns the quotes of a frame, whose time is in the envelope. */
function tickerQuotes(
  event: unknown,
  names: ReadonlyMap<string, string>,
  atNs: OwnTime,
): readonly MarketEvent[] {
  return listOf(recordOf(event)['tickers']).flatMap((ticker): readonly MarketEvent[] => {
    const { product_id, best_bid, best_ask } = recordOf(ticker);
    const symbol = names.get(String(product_id));
    if (symbol === undefined) return [];
    return [{ kind: 'quote', quote: { symbol, bid: digitsOf(best_bid), ask: digitsOf(best_ask), atNs } }];
  });
}

function nameOf(pair: string): string {
  return pair.replace('/', '-');
}

function pairOf(name: string): string {
  return name.replace('-', '/');
}
