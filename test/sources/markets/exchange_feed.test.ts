import { test } from 'tap';
import { FakeLine } from './fake_line.js';

test('a connection is renewed before the exchange ends it, without a moment without one', async (t) => {
  const line = new FakeLine(['BTC/USDT', 'ETH/USDT']);
  t.teardown(() => line.feed.close());
  const [first] = line.connections;
  first!.events.onOpen();
  let passedS = 0;
  for (; line.connections.length === 1 && passedS < 24 * 3_600; passedS += 5) {
    line.show('BTC/USDT', '1', '2', first);
    line.show('ETH/USDT', '1', '2', first);
    line.time.advance(5_000);
  }
  t.ok(passedS > 20 * 3_600 && passedS <= 23 * 3_600, `after ${passedS} s; Binance ends it after 24 hours`);
  t.equal(line.alive.length, 2, 'the old one stays');
  line.show('BTC/USDT', '1', '2', first);
  const [, second] = line.connections;
  second!.events.onOpen();
  t.match(second!.sent, [/SUBSCRIBE.*btcusdt.*ethusdt/]);
  t.notOk(first!.isClosed);
  line.show('BTC/USDT', '3', '4', second);
  t.ok(first!.isClosed, 'until the new one has a quote');
  t.notOk(second!.isClosed);
  t.same(line.warnings, []);
});

test('an exchange that ends each connection after 24 hours, or announces it', async (t) => {
  const line = new FakeLine(['BTC/USDT']);
  t.teardown(() => line.feed.close());
  line.newest.events.onOpen();
  line.time.advance(6_000);
  line.newest.events.onText('{"data":{"e":"serverShutdown","E":1}}');
  t.equal(line.alive.length, 2, 'a new one is made while the old one goes on');
  line.newest.events.onOpen();
  line.show('BTC/USDT', '1', '2');
  t.equal(line.alive.length, 1);
  line.newest.events.onEnd('the exchange closed the connection (1000)');
  t.equal(line.alive.length, 0);
  line.time.advance(250);
  t.equal(line.alive.length, 1, 'again after a quarter of a second');
  t.match(line.warnings, [/the server shuts down; connecting again/, /\(1000\); connecting again/]);
});

test('a quiet pair is asked for over REST: the same best prices prove it, and others a dead subscription', async (t) => {
  const line = new FakeLine(['BTC/USDT']);
  t.teardown(() => line.feed.close());
  line.newest.events.onOpen();
  line.show('BTC/USDT', '1.10', '2');
  const { sent } = line.newest;
  const before = sent.length;
  for (let round = 1; round <= 6; round++) {
    line.time.advance(5_500);
    t.equal(line.asked.length, round, `asked ${round} times`);
    line.asked.at(-1)!.answer({ symbol: 'BTC/USDT', bid: '1.1', ask: '2.00' });
  }
  t.equal(sent.length, before, 'it is not subscribed again');
  t.equal(line.connections.length, 1);
  line.time.advance(5_500);
  line.asked.at(-1)!.answer({ symbol: 'BTC/USDT', bid: '1.2', ask: '2' });
  t.match(sent.slice(-2), [/UNSUBSCRIBE/, /"SUBSCRIBE/]);
  line.time.advance(16_000);
  t.equal(line.connections.length, 2);
});

test('without an answer of REST a silent pair is subscribed again after max_age', async (t) => {
  const line = new FakeLine(['BTC/USDT', 'ETH/USDT']);
  t.teardown(() => line.feed.close());
  line.newest.events.onOpen();
  for (let i = 0; i < 11; i++) {
    line.show('BTC/USDT', '1', '2', line.connections[0]);
    line.time.advance(1_000);
  }
  t.match(line.connections[0]!.sent.slice(-2), [/UNSUBSCRIBE.*ethusdt/, /"SUBSCRIBE.*ethusdt/]);
  t.same(line.warnings, ['ETH/USDT: no frame for 10 s; subscribing again']);
  for (let i = 0; i < 11; i++) {
    line.show('BTC/USDT', '1', '2', line.connections[0]);
    line.time.advance(1_000);
  }
  t.equal(line.connections.length, 2, 'then it moves to a connection of its own');
  t.notOk(line.connections[0]!.isClosed, 'and the pair that is heard keeps its connection');
});
