import { test } from 'tap';
import { bybit } from '../../../src/sources/adapters/bybit.js';
import { eventsOf, quotesIn, sessionOf } from './events.js';

const frame = (changes: object = {}) => ({
  topic: 'orderbook.1.BTCUSDT',
  ts: 1_786_613_159_749,
  type: 'snapshot',
  data: { s: 'BTCUSDT', b: [['63705.3', '2.0']], a: [['63705.4', '2.3']], u: 1, seq: 2 },
  cts: 1_786_613_159_748,
  ...changes,
});

test('more than 10 pairs are several messages, each acknowledged as a whole', async (t) => {
  const pairs = Array.from({ length: 21 }, (_, i) => `C${i}/USDT`);
  const session = bybit.open(pairs);
  const messages = session.subscribe(pairs).map((text) => JSON.parse(text));
  t.same(
    messages.map(({ args }) => args.length),
    [10, 10, 1],
  );
  const ack = { success: true, ret_msg: 'subscribe', req_id: messages[2].req_id, op: 'subscribe' };
  t.same(eventsOf(session, ack), [{ kind: 'subscribed', pairs: ['C20/USDT'] }]);
});

test('the time is that of the engine', async (t) => {
  t.same(quotesIn(sessionOf(bybit, 'BTC/USDT'), frame()), [
    {
      symbol: 'BTC/USDT',
      bid: '63705.3',
      ask: '63705.4',
      atNs: 1_786_613_159_748_000_000n,
      isRepeated: false,
    },
  ]);
});

test('an unchanged book that is sent again is a quote again', async (t) => {
  const session = sessionOf(bybit, 'BTC/USDT');
  quotesIn(session, frame());
  t.match(quotesIn(session, frame({ cts: 1_786_613_162_748 })), [
    { atNs: 1_786_613_162_748_000_000n, isRepeated: true },
  ]);
});

test('an empty side, tickers without best prices, and deltas', async (t) => {
  const session = sessionOf(bybit, 'BTC/USDT');
  t.match(quotesIn(session, frame({ data: { s: 'BTCUSDT', b: [], a: [['1', '1']] } })), [
    { bid: undefined, ask: '1' },
  ]);
  t.same(
    quotesIn(session, {
      topic: 'tickers.BTCUSDT',
      type: 'snapshot',
      data: { symbol: 'BTCUSDT', lastPrice: '1' },
    }),
    [],
  );
  t.same(quotesIn(session, frame({ type: 'delta' })), []);
});

test('refusals name the pair where the text does; a repeated subscription is no error', async (t) => {
  const session = sessionOf(bybit, 'NOPE/USDT', 'BTC/USDT');
  const refused = (ret_msg: string) => eventsOf(session, { success: false, ret_msg, op: 'subscribe' });
  t.match(refused('Invalid symbol :[orderbook.1.NOPEUSDT]'), [{ kind: 'refused', pair: 'NOPE/USDT' }]);
  t.match(refused('error:handler not found,topic:orderbook.1.NOPEUSDT'), [
    { kind: 'refused', pair: 'NOPE/USDT' },
  ]);
  t.match(refused('args size >10'), [{ kind: 'refused', pair: undefined, reason: 'args size >10' }]);
  t.same(refused('error:already subscribed,topic:orderbook.1.BTCUSDT'), []);
});

test('the answer to a ping has no events', async (t) => {
  t.same(eventsOf(sessionOf(bybit, 'BTC/USDT'), { success: true, ret_msg: 'pong', op: 'ping' }), []);
});

test('the list of pairs has only those that trade', async (t) => {
  const list = [
    { symbol: 'BTCUSDT', status: 'Trading', baseCoin: 'BTC', quoteCoin: 'USDT' },
    { symbol: 'NEWUSDT', status: 'PreLaunch', baseCoin: 'NEW', quoteCoin: 'USDT' },
  ];
  t.same(bybit.readPairs(JSON.stringify({ retCode: 0, result: { list } })), ['BTC/USDT']);
});
