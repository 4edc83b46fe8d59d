import { test } from 'tap';
import { bitstamp } from '../../../src/sources/adapters/bitstamp.js';
import { eventsOf, quotesIn, sessionOf } from './events.js';

const book = (bids: unknown, asks: unknown) => ({
  event: 'data',
  channel: 'order_book_ethusd',
  data: { timestamp: '1791357997', microtimestamp: '1791357997711238', bids, asks },
});

test('each pair is a message of its own, below 512 bytes, in lower case', async (t) => {
  const texts = bitstamp.open([]).subscribe(['BTC/USD', 'USDT/USD']);
  t.same(
    texts.map((text) => JSON.parse(text)),
    [
      { event: 'bts:subscribe', data: { channel: 'order_book_btcusd' } },
      { event: 'bts:subscribe', data: { channel: 'order_book_usdtusd' } },
    ],
  );
  t.ok(texts.every((text) => text.length < 512));
  t.ok(bitstamp.rules.pauseMs >= 100, 'twenty at once are answered with data 6 s late');
});

test('the first levels are the best prices; the time is in microseconds', async (t) => {
  const frame = book(
    [
      ['2616.35', '5.1'],
      ['2616.33', '11.4'],
    ],
    [['2616.40', '1.0']],
  );
  t.same(quotesIn(sessionOf(bitstamp, 'ETH/USD'), frame), [
    { symbol: 'ETH/USD', bid: '2616.35', ask: '2616.40', atNs: 1_791_357_997_711_238_000n },
  ]);
});

test('a crossed book is left out, an empty one takes the quote away', async (t) => {
  const session = sessionOf(bitstamp, 'ETH/USD');
  t.match(quotesIn(session, book([['2616.40', '1']], [['2616.40', '1']])), [
    { bid: '2616.40', ask: '2616.40' },
  ]);
  t.same(quotesIn(session, book([['2616.41', '1']], [['2616.40', '1']])), []);
  t.match(quotesIn(session, book([['2616.41', '1']], [])), [{ bid: '2616.41', ask: undefined }]);
  t.match(quotesIn(session, book([['2616.41', '1']], [['0', '1']])), [{ ask: '0' }]);
});

test('a level of size 0, in either spelling, is gone', async (t) => {
  const bids = [
    ['2616.42', '0'],
    ['2616.41', '0.00000'],
    ['2616.40', '0.00001'],
  ];
  t.match(quotesIn(sessionOf(bitstamp, 'ETH/USD'), book(bids, [['2616.43', '0.00000']])), [
    { bid: '2616.40', ask: undefined },
  ]);
});

test('acknowledgement, heartbeat, refusal without a pair, announced end', async (t) => {
  const session = sessionOf(bitstamp, 'ETH/USD');
  t.same(eventsOf(session, { event: 'bts:subscription_succeeded', channel: 'order_book_ethusd', data: {} }), [
    { kind: 'subscribed', pairs: ['ETH/USD'] },
  ]);
  t.same(eventsOf(session, { event: 'bts:heartbeat', channel: '', data: { status: 'success' } }), []);
  t.same(
    eventsOf(session, {
      event: 'bts:error',
      channel: '',
      data: { code: null, message: 'Invalid channel provided.' },
    }),
    [{ kind: 'refused', pair: undefined, reason: '"Invalid channel provided."' }],
  );
  for (const data of ['', null, {}])
    t.match(eventsOf(session, { event: 'bts:request_reconnect', channel: '', data }), [{ kind: 'ending' }]);
});

test('other channels are no quotes', async (t) => {
  const session = sessionOf(bitstamp, 'ETH/USD');
  t.same(eventsOf(session, { ...book([['1', '1']], [['2', '1']]), channel: 'diff_order_book_ethusd' }), []);
  t.same(eventsOf(session, { ...book([['1', '1']], [['2', '1']]), channel: 'order_book_btcusd' }), []);
});

test('the list of pairs has only enabled ones', async (t) => {
  const list = [
    { name: 'BTC/USD', url_symbol: 'btcusd', trading: 'Enabled' },
    { name: 'OLD/USD', url_symbol: 'oldusd', trading: 'Disabled' },
  ];
  t.same(bitstamp.readPairs(JSON.stringify(list)), ['BTC/USD']);
});
