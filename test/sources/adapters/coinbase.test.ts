import { test } from 'tap';
import { coinbase } from '../../../src/sources/adapters/coinbase.js';
import { eventsOf, quotesIn, sessionOf } from './events.js';

const ticker = (sequence_num: number, product_id = 'BTC-USD') => ({
  channel: 'ticker',
  timestamp: '2026-08-12T19:27:33.489674268Z',
  sequence_num,
  events: [
    { type: 'update', tickers: [{ product_id, price: '1', best_bid: '63318.86', best_ask: '63318.87' }] },
  ],
});

test('subscribes heartbeats too, because a quiet connection is closed', async (t) => {
  t.same(
    coinbase
      .open(['BTC/USD'])
      .subscribe(['BTC/USD', 'USDT/USD'])
      .map((text) => JSON.parse(text)),
    [
      { type: 'subscribe', product_ids: ['BTC-USD', 'USDT-USD'], channel: 'ticker' },
      { type: 'subscribe', channel: 'heartbeats' },
    ],
  );
});

test('reads data that comes before the acknowledgement', async (t) => {
  const session = sessionOf(coinbase, 'BTC/USD');
  t.same(quotesIn(session, ticker(0)), [
    { symbol: 'BTC/USD', bid: '63318.86', ask: '63318.87', atNs: 1_786_562_853_489_674_268n },
  ]);
  const ack = {
    channel: 'subscriptions',
    sequence_num: 1,
    events: [{ subscriptions: { ticker: ['BTC-USD'] } }],
  };
  t.same(eventsOf(session, ack), [{ kind: 'subscribed', pairs: ['BTC/USD'] }]);
  const none = { channel: 'subscriptions', sequence_num: 2, events: [{ subscriptions: {} }] };
  t.same(eventsOf(session, none), []);
});

test('a hole in the numbers of frames, over all channels, ends the connection', async (t) => {
  const session = sessionOf(coinbase, 'BTC/USD');
  eventsOf(session, ticker(7));
  t.same(
    eventsOf(session, { channel: 'heartbeats', sequence_num: 8, events: [{ heartbeat_counter: 42 }] }),
    [],
  );
  t.equal(quotesIn(session, ticker(9)).length, 1);
  t.same(eventsOf(session, { channel: 'heartbeats', sequence_num: 11, events: [] }), [
    { kind: 'ending', reason: 'frame 10 was lost' },
  ]);
});

test('aliases are refused, and so is a market that does not exist', async (t) => {
  t.match(coinbase.objection!('BTC/USDC'), /alias of BTC\/USD /);
  t.match(coinbase.objection!('USDC/USD'), /no market/);
  for (const pair of ['BTC/USD', 'USDT/USD', 'USDT/USDC', 'EURC/USDC'])
    t.equal(coinbase.objection!(pair), undefined);
});

test('errors, foreign products, and tickers without best prices', async (t) => {
  const session = sessionOf(coinbase, 'BTC/USD');
  t.same(eventsOf(session, { type: 'error', message: 'too many products' }), [
    { kind: 'refused', pair: undefined, reason: '"too many products"' },
  ]);
  t.same(quotesIn(session, ticker(0, 'ETH-USD')), []);
  const batch = {
    channel: 'ticker',
    sequence_num: 1,
    events: [{ tickers: [{ product_id: 'BTC-USD', price: '63320.73' }] }],
  };
  t.match(quotesIn(session, batch), [{ bid: undefined, ask: undefined }], 'the last trade is no quote');
});

test('the list of pairs', async (t) => {
  const list = [
    { id: 'BTC-USD', status: 'online' },
    { id: 'OLD-USD', status: 'delisted' },
  ];
  t.same(coinbase.readPairs(JSON.stringify(list)), ['BTC/USD']);
});
