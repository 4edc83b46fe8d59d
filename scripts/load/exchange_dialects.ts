import type { BuiltInKind } from '../../src/sources/sources_schema.js';

/** The best prices of a pair at a local exchange. `atMs` is the exchange's own time. */
export interface ShownBook {
  readonly bid: string;
  readonly ask: string;
  readonly atMs: number;
  /** The number of price levels per side, for an exchange that sends several levels. */
  readonly levels: number;
}

/** The server side of an exchange's protocol. */
export interface Dialect {
  /** Returns the exchange's list of pairs, in the form of its REST interface. */
  list(pairs: readonly string[]): unknown;
  /** Returns the names that a message subscribes to, or `undefined` for another message. */
  subscribed(message: Fields): readonly string[] | undefined;
  /** Returns the exchange's name of a pair. */
  nameOf(pair: string): string;
  /** Returns the frames that acknowledge names. Returns an empty list for an exchange that sends no refusals. */
  acknowledge(message: Fields, known: readonly string[], unknown: readonly string[]): readonly unknown[];
  quote(name: string, book: ShownBook, sequence: number): unknown;
  /** Returns the answer of REST for one pair. */
  top(book: ShownBook): unknown;
  readonly heartbeat?: (sequence: number) => unknown;
}

export type Fields = Readonly<Record<string, unknown>>;

const dashed = (pair: string) => pair.replace('/', '-');
const joined = (pair: string) => pair.replace('/', '');
const split = (pair: string) => pair.split('/') as [string, string];
const iso = (ms: number) => new Date(ms).toISOString();
const side = (price: string, levels: number) => Array.from({ length: levels }, () => [price, '0.12345678']);
const level = (price: string) => [[price, '1.0', '0', '1']];
const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);

export const DIALECTS: Readonly<Record<BuiltInKind, Dialect>> = {
  kraken: {
    list: (pairs) => ({
      error: [],
      result: Object.fromEntries(pairs.map((pair) => [joined(pair), { wsname: pair, status: 'online' }])),
    }),
    subscribed: ({ method, params }) =>
      method === 'subscribe' ? texts((params as Fields)['symbol']) : undefined,
    top: ({ bid, ask }) => ({ error: [], result: { PAIR: { a: [ask, '1', '1.0'], b: [bid, '1', '1.0'] } } }),
    nameOf: (pair) => pair,
    acknowledge: (_, known, unknown) => [
      ...known.map((symbol) => ({
        method: 'subscribe',
        success: true,
        result: { channel: 'ticker', symbol },
      })),
      ...unknown.map((symbol) => ({
        error: `Currency pair not supported ${symbol}`,
        method: 'subscribe',
        success: false,
        symbol,
      })),
    ],
    // Prices are JSON numbers with exact digits, so the function writes the frame as text.
    quote: (symbol, { bid, ask, atMs }) =>
      `{"channel":"ticker","type":"update","data":[{"symbol":"${symbol}","bid":${bid},"ask":${ask},"timestamp":"${iso(atMs)}"}]}`,
    heartbeat: () => ({ channel: 'heartbeat' }),
  },
  coinbase: {
    list: (pairs) => pairs.map((pair) => ({ id: dashed(pair), status: 'online' })),
    subscribed: ({ type, channel, product_ids }) =>
      type === 'subscribe' && channel === 'ticker' ? texts(product_ids) : undefined,
    top: ({ bid, ask }) => ({ trades: [], best_bid: bid, best_ask: ask }),
    nameOf: dashed,
    acknowledge: () => [],
    quote: (product_id, { bid, ask, atMs }, sequence_num) => ({
      channel: 'ticker',
      timestamp: iso(atMs),
      sequence_num,
      events: [{ type: 'update', tickers: [{ product_id, price: bid, best_bid: bid, best_ask: ask }] }],
    }),
    heartbeat: (sequence_num) => ({
      channel: 'heartbeats',
      sequence_num,
      events: [{ heartbeat_counter: 1 }],
    }),
  },
  binance: {
    list: (pairs) => ({
      symbols: pairs.map((pair) => {
        const [baseAsset, quoteAsset] = split(pair);
        return { symbol: joined(pair), status: 'TRADING', baseAsset, quoteAsset };
      }),
    }),
    subscribed: ({ method, params }) =>
      method === 'SUBSCRIBE'
        ? texts(params).map((stream) => stream.replace('@bookTicker', '').toUpperCase())
        : undefined,
    top: ({ bid, ask }) => ({ bidPrice: bid, bidQty: '1', askPrice: ask, askQty: '1' }),
    nameOf: joined,
    acknowledge: ({ id }) => [{ result: null, id }],
    quote: (s, { bid, ask }, u) => ({
      stream: `${s.toLowerCase()}@bookTicker`,
      data: { u, s, b: bid, B: '1', a: ask, A: '1' },
    }),
  },
  okx: {
    list: (pairs) => ({ code: '0', data: pairs.map((pair) => ({ instId: dashed(pair), state: 'live' })) }),
    subscribed: ({ op, args }) =>
      op === 'subscribe' ? (args as Fields[]).map(({ instId }) => String(instId)) : undefined,
    top: ({ bid, ask, atMs }) => ({ code: '0', data: [{ bidPx: bid, askPx: ask, ts: String(atMs) }] }),
    nameOf: dashed,
    acknowledge: (_, known, unknown) => [
      ...known.map((instId) => ({ event: 'subscribe', arg: { channel: 'bbo-tbt', instId }, connId: 'a' })),
      ...unknown.map((instId) => ({
        event: 'error',
        code: '60018',
        msg: `Wrong URL or channel:bbo-tbt,instId:${instId} doesn't exist.`,
      })),
    ],
    quote: (instId, { bid, ask, atMs }, seqId) => ({
      arg: { channel: 'bbo-tbt', instId },
      data: [{ bids: level(bid), asks: level(ask), ts: String(atMs), seqId }],
    }),
  },
  bybit: {
    list: (pairs) => ({
      retCode: 0,
      result: {
        list: pairs.map((pair) => {
          const [baseCoin, quoteCoin] = split(pair);
          return { symbol: joined(pair), status: 'Trading', baseCoin, quoteCoin };
        }),
      },
    }),
    subscribed: ({ op, args }) =>
      op === 'subscribe' ? texts(args).map((topic) => topic.replace('orderbook.1.', '')) : undefined,
    top: ({ bid, ask }) => ({ retCode: 0, result: { list: [{ bid1Price: bid, ask1Price: ask }] } }),
    nameOf: joined,
    acknowledge: ({ req_id }) => [{ success: true, ret_msg: 'subscribe', req_id, op: 'subscribe' }],
    quote: (s, { bid, ask, atMs }, u) => ({
      topic: `orderbook.1.${s}`,
      ts: atMs,
      type: 'snapshot',
      data: { s, b: level(bid), a: level(ask), u },
      cts: atMs,
    }),
  },
  bitstamp: {
    list: (pairs) =>
      pairs.map((name) => ({ name, url_symbol: joined(name).toLowerCase(), trading: 'Enabled' })),
    subscribed: ({ event, data }) =>
      event === 'bts:subscribe'
        ? [String((data as Fields)['channel']).replace('order_book_', '')]
        : undefined,
    top: ({ bid, ask, atMs }) => ({ timestamp: String(Math.floor(atMs / 1000)), bid, ask }),
    nameOf: (pair) => joined(pair).toLowerCase(),
    // The exchange also acknowledges a pair that does not exist.
    acknowledge: ({ data }) => [
      { event: 'bts:subscription_succeeded', channel: (data as Fields)['channel'], data: {} },
    ],
    quote: (name, { bid, ask, atMs, levels }) => ({
      event: 'data',
      channel: `order_book_${name}`,
      data: { microtimestamp: `${atMs}000`, bids: side(bid, levels), asks: side(ask, levels) },
    }),
  },
};
