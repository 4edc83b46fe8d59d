import {
  answeredList,
  digitsOf,
  isRecord,
  type Market,
  type MarketEvent,
  namesOf,
  quoteEvent,
  readFrame,
  recordOf,
  refusedEvent,
  slicesOf,
} from './market.js';

/** The number of pairs in a subscription message. */
const PAIRS_PER_MESSAGE = 50;

/**
 * Binance spot, streams `bookTicker`, from the host that serves only market data. The frames have no time, so a quote's time is its time of
 * receipt. Acknowledgements are ignored, because Binance also acknowledges a stream of a pair that does not exist.
 */
export const binance: Market = {
  url: 'wss://data-stream.binance.vision/stream',
  pairsUrl: 'https://data-api.binance.vision/api/v3/exchangeInfo?permissions=SPOT&showPermissionSets=false',
  top: {
    url: 'https://data-api.binance.vision/api/v3/ticker/bookTicker?symbol={symbol}',
    nameOf,
    paths: { bid: '$.bidPrice', ask: '$.askPrice' },
  },
  rules: { silenceMs: 45_000, pauseMs: 300, pairsPerSocket: 200, renewMs: 23 * 3_600_000 },
  readPairs: (text) =>
    answeredList(text, (answer) => recordOf(answer)['symbols'])
      .map(recordOf)
      .filter(({ status }) => status === 'TRADING')
      .map(({ baseAsset, quoteAsset }) => `${baseAsset}/${quoteAsset}`),
  open: (pairs) => {
    const names = namesOf(pairs, nameOf);
    let id = 0;
    const requests = (method: string, list: readonly string[]) => {
      const streams = list.map((pair) => `${nameOf(pair).toLowerCase()}@bookTicker`);
      return slicesOf(streams, PAIRS_PER_MESSAGE).map((params) =>
        JSON.stringify({ method, params, id: ++id }),
      );
    };
    return {
      subscribe: (list) => requests('SUBSCRIBE', list),
      unsubscribe: (list) => requests('UNSUBSCRIBE', list),
      read: (text) =>
        readFrame(text, JSON.parse, (frame): readonly MarketEvent[] => {
          const { s, b, a, e, error = frame } = isRecord(frame['data']) ? frame['data'] : frame;
          if (e === 'serverShutdown') return [{ kind: 'ending', reason: 'the server shuts down' }];
          const { code, msg } = recordOf(error);
          if (code !== undefined) return refusedEvent(undefined, msg);
          const symbol = names.get(String(s));
          // Other streams, such as `aggTrade`, name their event.
          if (symbol === undefined || e !== undefined) return [];
          return quoteEvent({ symbol, bid: digitsOf(b), ask: digitsOf(a) });
        }),
    };
  },
};

function nameOf(pair: string): string {
  return pair.replace('/', '');
}
