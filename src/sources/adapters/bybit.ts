import { parseMilliseconds } from '../market_time.js';
import {
  answeredList,
  bestOf,
  DAY_MS,
  type Market,
  type MarketEvent,
  namesOf,
  pairNamedIn,
  quoteEvent,
  readFrame,
  recordOf,
  refusedEvent,
  slicesOf,
} from './market.js';

/** The largest number of pairs in a message. The exchange refuses a larger message as a whole. */
const PAIRS_PER_MESSAGE = 10;
const TOPIC = 'orderbook.1.';

/**
 * Bybit v5 spot, `orderbook.1`: whole books of one level, repeated every 3 s. Spot tickers have no best prices. The time is `cts`, the time
 * of the matching engine.
 */
export const bybit: Market = {
  url: 'wss://stream.bybit.com/v5/public/spot',
  pairsUrl: 'https://api.bybit.com/v5/market/instruments-info?category=spot',
  top: {
    url: 'https://api.bybit.com/v5/market/tickers?category=spot&symbol={symbol}',
    nameOf,
    paths: { bid: '$.result.list[0].bid1Price', ask: '$.result.list[0].ask1Price' },
  },
  rules: { silenceMs: 25_000, pingMs: 18_000, pauseMs: 300, pairsPerSocket: 100, renewMs: DAY_MS },
  readPairs: (text) =>
    answeredList(text, (answer) => recordOf(recordOf(answer)['result'])['list'])
      .map(recordOf)
      .filter(({ status }) => status === 'Trading')
      .map(({ baseCoin, quoteCoin }) => `${baseCoin}/${quoteCoin}`),
  open: (pairs) => {
    const names = namesOf(pairs, nameOf);
    /** The pairs of each message. One acknowledgement covers all pairs of a message. */
    const asked: string[][] = [];
    /** The number of each pair's last update. The exchange sends an update again after 3 s without another. */
    const updates = new Map<string, unknown>();
    const isAgain = (symbol: string, update: unknown) => {
      const isSame = update !== undefined && updates.get(symbol) === update;
      updates.set(symbol, update);
      return isSame;
    };
    const requests = (op: string, list: readonly string[]) =>
      slicesOf(list, PAIRS_PER_MESSAGE).map((slice) => {
        const args = slice.map((pair) => `${TOPIC}${nameOf(pair)}`);
        if (op !== 'subscribe') return JSON.stringify({ op, args });
        return JSON.stringify({ req_id: String(asked.push(slice) - 1), op, args });
      });
    const answer = (success: unknown, reason: unknown, id: unknown): readonly MarketEvent[] => {
      if (success === true) {
        const list = asked[Number(id)];
        return list === undefined ? [] : [{ kind: 'subscribed', pairs: list }];
      }
      const isRepeated = typeof reason === 'string' && reason.includes('already subscribed');
      return isRepeated ? [] : refusedEvent(pairNamedIn(reason, names), reason);
    };
    return {
      ping: '{"op":"ping"}',
      subscribe: (list) => requests('subscribe', list),
      unsubscribe: (list) => requests('unsubscribe', list),
      read: (text) =>
        readFrame(text, JSON.parse, ({ op, success, ret_msg, req_id, topic, type, data, cts }) => {
          if (op === 'subscribe') return answer(success, ret_msg, req_id);
          const symbol = names.get(String(recordOf(data)['s']));
          if (symbol === undefined || type !== 'snapshot' || !String(topic).startsWith(TOPIC)) return [];
          const { b, a, u } = recordOf(data);
          return quoteEvent({
            symbol,
            bid: bestOf(b),
            ask: bestOf(a),
            atNs: parseMilliseconds(cts),
            isRepeated: isAgain(symbol, u),
          });
        }),
    };
  },
};

function nameOf(pair: string): string {
  return pair.replace('/', '');
}
