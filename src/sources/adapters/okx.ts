import { parseMilliseconds } from '../market_time.js';
import {
  answeredList,
  bestOf,
  DAY_MS,
  digitsOf,
  listOf,
  type Market,
  type MarketEvent,
  namesOf,
  pairNamedIn,
  readFrame,
  recordOf,
  refusedEvent,
  slicesOf,
} from './market.js';

const PAIRS_PER_MESSAGE = 25;
/** The code of the notice that the connection will soon close for an upgrade. */
const UPGRADE_CODE = '64008';
const CHANNELS = ['bbo-tbt', 'tickers'];

/** OKX v5, channel `bbo-tbt`. Its ping and pong are plain texts, not JSON. */
export const okx: Market = {
  url: 'wss://ws.okx.com:8443/ws/v5/public',
  pairsUrl: 'https://www.okx.com/api/v5/public/instruments?instType=SPOT',
  top: {
    url: 'https://www.okx.com/api/v5/market/ticker?instId={symbol}',
    nameOf,
    paths: { bid: '$.data[0].bidPx', ask: '$.data[0].askPx', at: '$.data[0].ts' },
  },
  rules: { silenceMs: 25_000, pingMs: 15_000, pauseMs: 300, pairsPerSocket: 50, renewMs: DAY_MS },
  readPairs: (text) =>
    answeredList(text, (answer) => recordOf(answer)['data'])
      .map(recordOf)
      .filter(({ state, instId }) => state === 'live' && typeof instId === 'string')
      .map(({ instId }) => (instId as string).replace('-', '/')),
  open: (pairs) => {
    const names = namesOf(pairs, nameOf);
    const requests = (op: string, list: readonly string[]) =>
      slicesOf(list, PAIRS_PER_MESSAGE).map((slice) =>
        JSON.stringify({ op, args: slice.map((pair) => ({ channel: 'bbo-tbt', instId: nameOf(pair) })) }),
      );
    return {
      ping: 'ping',
      subscribe: (list) => requests('subscribe', list),
      unsubscribe: (list) => requests('unsubscribe', list),
      read: (text) => {
        if (text === 'pong') return [];
        return readFrame(text, JSON.parse, ({ event, arg, data, code, msg }): readonly MarketEvent[] => {
          const { channel, instId } = recordOf(arg);
          const symbol = names.get(String(instId));
          if (event === 'error') return refusedEvent(pairNamedIn(msg, names), msg);
          if (event === 'notice')
            return code === UPGRADE_CODE ? [{ kind: 'ending', reason: 'an upgrade is announced' }] : [];
          if (symbol === undefined || !CHANNELS.includes(String(channel))) return [];
          if (event === 'subscribe') return [{ kind: 'subscribed', pairs: [symbol] }];
          return listOf(data).map((item) => ({ kind: 'quote', quote: bookTop(symbol, recordOf(item)) }));
        });
      },
    };
  },
};

/** Reads an item of `bbo-tbt`, which has lists of levels, or of `tickers`. */
function bookTop(symbol: string, { bids, asks, bidPx, askPx, ts }: Record<string, unknown>) {
  const bid = bids === undefined ? digitsOf(bidPx) : bestOf(bids);
  const ask = asks === undefined ? digitsOf(askPx) : bestOf(asks);
  return { symbol, bid, ask, atNs: parseMilliseconds(ts) };
}

function nameOf(pair: string): string {
  return pair.replace('/', '-');
}
