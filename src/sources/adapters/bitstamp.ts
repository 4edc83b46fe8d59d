import { parseDigits } from '../digits.js';
import { parseMicroseconds } from '../market_time.js';
import {
  answeredList,
  bestOf,
  DAY_MS,
  type Market,
  type MarketEvent,
  namesOf,
  quoteEvent,
  readFrame,
  recordOf,
  refusedEvent,
} from './market.js';

const CHANNEL = 'order_book_';
/** The number of parsed levels per side. A book has 100 levels, but only the best level matters. */
const LEVELS = 2;

/**
 * Bitstamp, channels `order_book_…`, each subscribed with its own message. No channel has only the best prices, so they are read from the
 * first levels of the book. A pair that does not exist is acknowledged and stays silent.
 */
export const bitstamp: Market = {
  url: 'wss://ws.bitstamp.net',
  pairsUrl: 'https://www.bitstamp.net/api/v2/trading-pairs-info/',
  top: {
    url: 'https://www.bitstamp.net/api/v2/ticker/{symbol}/',
    nameOf,
    paths: { bid: '$.bid', ask: '$.ask', at: '$.timestamp' },
  },
  rules: { silenceMs: 25_000, pingMs: 10_000, pauseMs: 100, pairsPerSocket: 20, renewMs: 30 * DAY_MS },
  readPairs: (text) =>
    answeredList(text, (answer) => answer)
      .map(recordOf)
      .filter(({ trading, name }) => trading === 'Enabled' && typeof name === 'string')
      .map(({ name }) => name as string),
  open: (pairs) => {
    const names = namesOf(pairs, nameOf);
    const requests = (event: string, list: readonly string[]) =>
      list.map((pair) => JSON.stringify({ event, data: { channel: `${CHANNEL}${nameOf(pair)}` } }));
    return {
      ping: '{"event":"bts:heartbeat"}',
      subscribe: (list) => requests('bts:subscribe', list),
      unsubscribe: (list) => requests('bts:unsubscribe', list),
      read: (text) =>
        readFrame(text, parseFirstLevels, ({ event, channel, data }): readonly MarketEvent[] => {
          if (event === 'bts:request_reconnect')
            return [{ kind: 'ending', reason: 'the server asks for a new connection' }];
          if (event === 'bts:error') return refusedEvent(undefined, recordOf(data)['message']);
          const name = String(channel);
          const symbol = name.startsWith(CHANNEL) ? names.get(name.slice(CHANNEL.length)) : undefined;
          if (symbol === undefined) return [];
          if (event === 'bts:subscription_succeeded') return [{ kind: 'subscribed', pairs: [symbol] }];
          return event === 'data' ? bookEvents(symbol, recordOf(data)) : [];
        }),
    };
  },
};

/**
 * Parses a frame without the later levels of its book. Parses the whole frame if it has another form, or if one of its sides begins with
 * empty levels.
 */
function parseFirstLevels(text: string): unknown {
  const short = withFirstLevels(withFirstLevels(text, '"bids":['), '"asks":[');
  if (short === text) return JSON.parse(text);
  try {
    const frame: unknown = JSON.parse(short);
    const { bids, asks } = recordOf(recordOf(frame)['data']);
    if (bestOf(bids) !== undefined && bestOf(asks) !== undefined) return frame;
  } catch {
    // The whole frame is parsed below instead.
  }
  return JSON.parse(text);
}

/** @param head the text before the first level of a side */
function withFirstLevels(text: string, head: string): string {
  const start = text.indexOf(head);
  if (start < 0) return text;
  let end = start + head.length;
  for (let level = 0; level < LEVELS; level++) {
    end = text.indexOf(']', end) + 1;
    if (end === 0 || text[end] !== ',') return text;
  }
  const last = text.indexOf(']]', end);
  return last < 0 ? text : text.slice(0, end) + text.slice(last + 1);
}

/** Returns no event for a crossed book: the exchange warns of such books, and the next frame corrects them. */
function bookEvents(symbol: string, { bids, asks, microtimestamp }: Record<string, unknown>) {
  const bid = bestOf(bids);
  const ask = bestOf(asks);
  const highest = parseDigits(bid ?? '');
  const lowest = parseDigits(ask ?? '');
  const isCrossed = highest !== undefined && lowest !== undefined && lowest > 0n && highest > lowest;
  return isCrossed ? [] : quoteEvent({ symbol, bid, ask, atNs: parseMicroseconds(microtimestamp) });
}

function nameOf(pair: string): string {
  return pair.replace('/', '').toLowerCase();
}
