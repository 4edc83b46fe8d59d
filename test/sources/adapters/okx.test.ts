import { test } from 'tap';
import { okx } from '../../../src/sources/adapters/okx.js';
import { eventsOf, quotesIn, sessionOf } from './events.js';

const arg = { channel: 'bbo-tbt', instId: 'BTC-USDT' };

test('asks for 25 pairs in a message', async (t) => {
  const pairs = Array.from({ length: 26 }, (_, i) => `C${i}/USDT`);
  const texts = okx.open(pairs).subscribe(pairs);
  t.same(
    texts.map((text) => JSON.parse(text).args.length),
    [25, 1],
  );
  t.same(JSON.parse(texts[1]!), { op: 'subscribe', args: [{ channel: 'bbo-tbt', instId: 'C25-USDT' }] });
});

test('ping and pong are not JSON', async (t) => {
  const session = sessionOf(okx, 'BTC/USDT');
  t.equal(session.ping, 'ping');
  t.same(eventsOf(session, 'pong'), []);
});

test('levels are price, size, 0 and orders; a time is text in milliseconds', async (t) => {
  const session = sessionOf(okx, 'BTC/USDT');
  const data = [
    {
      asks: [['97687.6', '0.1', '0', '3']],
      bids: [['97687.5', '0.8', '0', '10']],
      ts: '1739657990337',
      seqId: 1,
    },
  ];
  t.same(quotesIn(session, { arg, data }), [
    { symbol: 'BTC/USDT', bid: '97687.5', ask: '97687.6', atNs: 1_739_657_990_337_000_000n },
  ]);
  const empty = [{ asks: [], bids: [['97687.5', '0.8', '0', '10']], ts: '1739657990337' }];
  t.match(quotesIn(session, { arg, data: empty }), [{ bid: '97687.5', ask: undefined }]);
});

test('acknowledged twice without harm; a refused pair is named only in the text', async (t) => {
  const session = sessionOf(okx, 'BTC/USDT', 'NOPE/USDT');
  for (const connId of ['a', 'b'])
    t.same(eventsOf(session, { event: 'subscribe', arg, connId }), [
      { kind: 'subscribed', pairs: ['BTC/USDT'] },
    ]);
  const msg =
    "Subscribe failed, wrong URL or channel:bbo-tbt,instId:NOPE-USDT doesn't exist. Please use the correct URL.";
  t.match(eventsOf(session, { event: 'error', msg, code: '60018' }), [
    { kind: 'refused', pair: 'NOPE/USDT' },
  ]);
  t.match(eventsOf(session, { event: 'error', msg: 'Illegal request: {}', code: '60012' }), [
    { kind: 'refused', pair: undefined },
  ]);
});

test('an announced upgrade ends the connection', async (t) => {
  const session = sessionOf(okx, 'BTC/USDT');
  t.match(eventsOf(session, { event: 'notice', code: '64008', msg: 'The connection will soon be closed' }), [
    { kind: 'ending' },
  ]);
  t.same(eventsOf(session, { event: 'notice', code: '1', msg: 'hello' }), []);
});

test('the list of pairs has only live ones', async (t) => {
  const data = [
    { instId: 'BTC-USDT', state: 'live' },
    { instId: 'OLD-USDT', state: 'suspend' },
  ];
  t.same(okx.readPairs(JSON.stringify({ data })), ['BTC/USDT']);
});
