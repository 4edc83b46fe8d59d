import { test } from 'tap';
import { kraken } from '../../../src/sources/adapters/kraken.js';
import { eventsOf, quotesIn, sessionOf } from './events.js';

const ONLINE =
  '{"channel":"status","type":"update","data":[{"system":"online","connection_id":15113583034416118705}]}';
const quote = (fields: string) =>
  `{"channel":"ticker","type":"update","data":[{"symbol":"BTC/USD",${fields},"timestamp":"2026-08-12T19:29:00.921195Z"}]}`;

test('asks for changes of the best prices, all pairs in one message', async (t) => {
  const texts = kraken.open([]).subscribe(['BTC/USD', 'USDT/USD']);
  t.same(
    texts.map((text) => JSON.parse(text)),
    [
      {
        method: 'subscribe',
        params: { channel: 'ticker', symbol: ['BTC/USD', 'USDT/USD'], event_trigger: 'bbo', snapshot: true },
      },
    ],
  );
  const [text] = kraken.open([]).unsubscribe(['BTC/USD']);
  t.match(JSON.parse(text!), {
    method: 'unsubscribe',
    params: { symbol: ['BTC/USD'], event_trigger: 'bbo' },
  });
});

test('keeps the digits of JSON numbers: trailing zeros, exponents, integers above 2^53', async (t) => {
  const session = sessionOf(kraken, 'BTC/USD');
  t.same(eventsOf(session, ONLINE), []);
  t.same(quotesIn(session, quote('"bid":62807.0,"bid_qty":0.00000000,"ask":62818.80,"last":1')), [
    { symbol: 'BTC/USD', bid: '62807.0', ask: '62818.80', atNs: 1_786_562_940_921_195_000n },
  ]);
  t.match(quotesIn(session, quote('"bid":5.1e-05,"ask":0.00005200')), [
    { bid: '5.1e-05', ask: '0.00005200' },
  ]);
});

test('a missing side is an empty quote, not an error and not 0', async (t) => {
  const session = sessionOf(kraken, 'BTC/USD');
  t.match(quotesIn(session, quote('"bid":null,"ask":62818.8')), [{ bid: undefined, ask: '62818.8' }]);
  t.match(quotesIn(session, quote('"ask":62818.8')), [{ bid: undefined, ask: '62818.8' }]);
});

test('a time may be missing', async (t) => {
  const frame = '{"channel":"ticker","type":"snapshot","data":[{"symbol":"BTC/USD","bid":1,"ask":2}]}';
  t.match(quotesIn(sessionOf(kraken, 'BTC/USD'), frame), [{ bid: '1', atNs: undefined }]);
});

test('acknowledges each pair, and names a refused one', async (t) => {
  const session = sessionOf(kraken, 'BTC/USD', 'XBT/USDT');
  const ack = '{"method":"subscribe","result":{"channel":"ticker","symbol":"BTC/USD"},"success":true}';
  t.same(eventsOf(session, ack), [{ kind: 'subscribed', pairs: ['BTC/USD'] }]);
  const refusal =
    '{"error":"Currency pair not supported XBT/USDT","method":"subscribe","success":false,"symbol":"XBT/USDT"}';
  t.same(eventsOf(session, refusal), [
    { kind: 'refused', pair: 'XBT/USDT', reason: '"Currency pair not supported XBT/USDT"' },
  ]);
  t.same(eventsOf(session, '{"error":"Malformed request","method":"error"}'), [
    { kind: 'refused', pair: undefined, reason: '"Malformed request"' },
  ]);
});

test('any status but online halts the market, though heartbeats and quotes go on', async (t) => {
  const session = sessionOf(kraken, 'BTC/USD');
  for (const system of ['maintenance', 'cancel_only', 'limit_only', 'post_only']) {
    t.same(eventsOf(session, ONLINE.replace('online', system)), [
      { kind: 'halted', reason: `status ${system}` },
    ]);
    t.same(eventsOf(session, '{"channel":"heartbeat"}'), []);
    t.same(quotesIn(session, quote('"bid":1,"ask":2')), []);
  }
  t.same(eventsOf(session, ONLINE), []);
  t.equal(quotesIn(session, quote('"bid":1,"ask":2')).length, 1);
});

test('XBT and XDG are names of the list only', async (t) => {
  t.match(kraken.objection!('XBT/USD'), /BTC\/USD/);
  t.match(kraken.objection!('XDG/USD'), /DOGE\/USD/);
  t.equal(kraken.objection!('BTC/USD'), undefined);
  const list = {
    error: [],
    result: {
      XXBTZUSD: { wsname: 'XBT/USD', status: 'online' },
      XDGUSD: { wsname: 'XDG/USD', status: 'online' },
      OLDUSD: { wsname: 'OLD/USD', status: 'cancel_only' },
    },
  };
  t.same(kraken.readPairs(JSON.stringify(list)), ['BTC/USD', 'DOGE/USD']);
});
