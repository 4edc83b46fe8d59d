import { foreignText } from '../../wire/foreign_text.js';
import { parseBestDigits } from '../digits.js';
import { parseRfc3339 } from '../market_time.js';
import {
  answeredList,
  DAY_MS,
  digitsOf,
  isRecord,
  listOf,
  type Market,
  type MarketEvent,
  quoteEvent,
  readFrame,
  recordOf,
  refusedEvent,
} from './market.js';

/** Names that are still in Kraken's list of pairs, but that its socket refuses. */
const OLD_NAMES: Readonly<Record<string, string>> = { XBT: 'BTC', XDG: 'DOGE' };

/**
 * Kraken's WebSocket v2, channel `ticker`. `event_trigger` must be `bbo`, because by default the best prices are sent only with a trade.
 * Prices are JSON numbers; their digits are kept.
 */
export const kraken: Market = {
  url: 'wss://ws.kraken.com/v2',
  pairsUrl: 'https://api.kraken.com/0/public/AssetPairs',
  top: {
    url: 'https://api.kraken.com/0/public/Ticker?pair={symbol}',
    nameOf: (pair) => oldName(pair).replace('/', ''),
    paths: { bid: '$.result.*.b[0]', ask: '$.result.*.a[0]' },
  },
  rules: { silenceMs: 5_000, pauseMs: 1_000, pairsPerSocket: 100, renewMs: DAY_MS },
  readPairs: (text) =>
    answeredList(text, (answer) => {
      const { result } = recordOf(answer);
      return isRecord(result) ? Object.values(result) : undefined;
    })
      .map(recordOf)
      .filter(({ status, wsname }) => status === 'online' && typeof wsname === 'string')
      .map(({ wsname }) => currentName(wsname as string)),
  objection: (pair) =>
    currentName(pair) === pair ? undefined : `Kraken refuses this name; it is ${currentName(pair)}`,
  open: () => {
    let isOnline = true;
    const request = (method: string, symbol: readonly string[]) =>
      JSON.stringify({ method, params: { channel: 'ticker', symbol, event_trigger: 'bbo', snapshot: true } });
    const status = (data: unknown): readonly MarketEvent[] => {
      const { system } = recordOf(listOf(data)[0]);
      isOnline = system === 'online';
      return isOnline ? [] : [{ kind: 'halted', reason: `status ${foreignText(String(system))}` }];
    };
    return {
      ping: '{"method":"ping"}',
      halt: () => (isOnline ? undefined : '{"channel":"status","data":[{"system":"offline"}]}'),
      subscribe: (pairs) => [request('subscribe', pairs)],
      unsubscribe: (pairs) => [
        JSON.stringify({
          method: 'unsubscribe',
          params: { channel: 'ticker', symbol: pairs, event_trigger: 'bbo' },
        }),
      ],
      read: (text) =>
        readFrame(text, parseBestDigits, ({ channel, data, method, success, result, symbol, error }) => {
          if (channel === 'status') return status(data);
          if (channel === 'ticker') return isOnline ? listOf(data).flatMap(tickerEvents) : [];
          if (success === false || method === 'error') return refusedEvent(digitsOf(symbol), error);
          const pair = recordOf(result)['symbol'];
          if (method !== 'subscribe' || typeof pair !== 'string') return [];
          return [{ kind: 'subscribed', pairs: [pair] }];
        }),
    };
  },
};

function tickerEvents(data: unknown): readonly MarketEvent[] {
  const { symbol, bid, ask, timestamp } = recordOf(data);
  if (typeof symbol !== 'string') return [];
  return quoteEvent({ symbol, bid: digitsOf(bid), ask: digitsOf(ask), atNs: parseRfc3339(timestamp) });
}

function currentName(pair: string): string {
  return renamedPair(pair, OLD_NAMES);
}

/** Returns the name that REST still uses. */
function oldName(pair: string): string {
  return renamedPair(
    pair,
    Object.fromEntries(Object.entries(OLD_NAMES).map(([old, current]) => [current, old])),
  );
}

function renamedPair(pair: string, names: Readonly<Record<string, string>>): string {
  return pair
    .split('/')
    .map((token) => names[token] ?? token)
    .join('/');
}
