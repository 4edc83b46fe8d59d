import { type Test, test } from 'tap';
import type { BuiltInKind } from '../../../src/sources/sources_schema.js';
import { until } from './manual_time.js';
import { TradingFloor } from './trading_floor.js';

// Tests of markets that freeze, lie or disconnect. The published price stays within the quotes of the honest markets, or no price
// is published.

const FOUR: readonly BuiltInKind[] = ['kraken', 'coinbase', 'bitstamp', 'binance'];

function neverWrong(t: Test, floor: TradingFloor): void {
  t.same(floor.wrong, [], 'no published price is outside the honest quotes');
  t.ok(floor.published > 0);
  t.comment(
    `${floor.published} prices were published, at most ${floor.furthest.toPrecision(1)} % off; ${floor.withheld} times none`,
  );
}

test('six protocols on real sockets give one price', async (t) => {
  const floor = await TradingFloor.start(t);
  for (let i = 1; i <= 10; i++) await floor.step(100_000 + i * 50);
  t.equal(floor.decision().price, 100_500n * 10n ** 18n);
  t.ok(floor.decision().readings.every(({ verdict }) => verdict === 'used'));
  t.same(floor.warnings, []);
  neverWrong(t, floor);
});

test('one of four frozen with its connection open', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  floor.dishonest.add('kraken');
  const frozen = floor.exchange('kraken');
  frozen.isFrozen = true;
  for (let i = 1; i <= 30; i++) await floor.step(100_000 + i * 20);
  t.equal(floor.verdict('kraken'), 'stale');
  t.equal(floor.decision().price, 100_600n * 10n ** 18n);
  neverWrong(t, floor);
  t.ok(frozen.asked.filter((name) => name === 'BTC/USD').length >= 2, 'it was asked again');
  await until(() => frozen.connections >= 2, 'a new connection');
  frozen.isFrozen = false;
  floor.dishonest.delete('kraken');
  await floor.step(100_620);
  t.equal(floor.verdict('kraken'), 'used', 'it counts again');
});

test('one of four at ten times the price', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  for (const factor of [10, 0.1, 1.05]) {
    floor.dishonest.add('bitstamp');
    for (let i = 1; i <= 5; i++) {
      floor.show('bitstamp', factor);
      await floor.step(100_000 + i * 20);
    }
    await until(() => floor.verdict('bitstamp') === 'outlier', `factor ${factor}`);
    floor.time.advance(500);
  }
  neverWrong(t, floor);
});

test('one whose clock is 30 s behind is late at first, and named after ten minutes', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  floor.dishonest.add('coinbase');
  for (let i = 1; i <= 320; i++) {
    floor.show('coinbase', 1, 30_000);
    await floor.step(100_000 + i * 10, 2_000);
    if (i === 10) await until(() => floor.verdict('coinbase') === 'late', 'the verdict');
  }
  const reading = () => floor.decision().readings.find(({ input }) => input.source === 'coinbase')!;
  floor.show('coinbase', 1, 30_000);
  await until(() => reading().quote?.offsetNs === -30_000_000_000n, 'the offset');
  t.equal(reading().verdict, 'used');
  neverWrong(t, floor);
});

test('one with a crossed book', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  floor.dishonest.add('kraken');
  for (let i = 1; i <= 5; i++) {
    floor.exchange('kraken').show('BTC/USD', '100500', '100400', Number(floor.time.nowNs() / 1_000_000n));
    await floor.step(100_000 + i * 20);
  }
  await until(() => floor.verdict('kraken') === 'crossed', 'the verdict');
  neverWrong(t, floor);
});

test('USDT at 0.90 dollars: prices of USDT markets follow the dollar', async (t) => {
  const floor = await TradingFloor.start(t, ['kraken', 'coinbase', 'binance', 'okx', 'bybit']);
  await floor.step(100_010);
  // Both markets move in steps of 0.1 %, one after the other.
  floor.slack = 0.0015;
  while (floor.tether > 0.9) {
    floor.tether = Math.max(0.9, floor.tether * 0.999);
    await floor.step(100_010, 20);
  }
  await until(() => floor.decision('USDTUSD').price === 9n * 10n ** 17n, 'the price of USDT');
  await floor.step(100_020);
  for (const kind of ['binance', 'okx', 'bybit'] as const) t.equal(floor.verdict(kind), 'used');
  t.ok(Math.abs(Number(floor.decision().price) / 1e18 - 100_020) < 0.001);
  neverWrong(t, floor);
});

test('USDT falls by 10 % at once: no price is wrong while some markets have not followed', async (t) => {
  const direct: readonly BuiltInKind[] = ['kraken', 'coinbase', 'bitstamp'];
  const converted: readonly BuiltInKind[] = ['binance', 'okx', 'bybit'];
  const floor = await TradingFloor.start(t, ['kraken', 'coinbase', ...converted]);
  let tether = 1;
  for (const [first, later] of [
    [converted, direct],
    [direct, converted],
  ] as const) {
    await floor.step(100_010);
    tether *= 0.9;
    floor.tether = tether;
    for (const kind of later) floor.dishonest.add(kind);
    const { withheld } = floor;
    await floor.step(100_010);
    await until(() => floor.decision().withheld === 'sources disagree', `no price while ${first} are first`);
    t.equal(floor.withheld, withheld + 1, 'the reason is said once');
    for (const kind of later) floor.dishonest.delete(kind);
    await floor.step(100_010);
    await floor.step(100_020);
    t.ok(floor.decision().price, 'the price is there again');
  }
  neverWrong(t, floor);
});

test('all but one gone: nothing is published, and why is said', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  await floor.step(100_010);
  for (const kind of ['kraken', 'bitstamp', 'binance'] as const) {
    floor.dishonest.add(kind);
    floor.exchange(kind).stop();
  }
  for (let i = 1; i <= 14; i++) await floor.step(100_010 + i);
  t.equal(floor.decision().price, undefined);
  const { published } = floor;
  const last = floor.lines.map((line) => JSON.parse(line)).findLast(({ asset }) => asset === 'BTCUSD');
  t.match(last, { price: null, withheld: 'too few sources' });
  for (let i = 1; i <= 6; i++) await floor.step(100_030 + i);
  t.equal(floor.published, published);
  t.equal(floor.withheld, 1, 'the reason is said once');
  t.equal(floor.verdict('coinbase'), 'used', 'a source that is gone takes no other with it');
  neverWrong(t, floor);
});

test('an exchange that ends its connections again and again', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  const exchange = floor.exchange('kraken');
  for (let round = 1; round <= 3; round++) {
    for (let i = 1; i <= 20; i++) await floor.step(100_000 + round * 100 + i);
    floor.dishonest.add('kraken');
    exchange.endAll();
    await floor.reconnected('kraken', round + 1);
    floor.dishonest.delete('kraken');
    await floor.step(100_000 + round * 100 + 22);
    t.equal(floor.verdict('kraken'), 'used');
  }
  t.equal(floor.withheld, 0, 'the price never went away');
  neverWrong(t, floor);
});

test('garbage, a frame of 10 MB, and 5,000 frames at once', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  const exchange = floor.exchange('binance');
  for (const text of ['', '{', '<html>502</html>', '[]', 'null', '{"data":{"s":"BTCUSDT","b":{},"a":[]}}'])
    exchange.say(text);
  await floor.step(100_010);
  floor.dishonest.add('binance');
  exchange.say(`{"a":"${'x'.repeat(10 * 1024 ** 2)}"}`);
  await until(() => !exchange.isConnected, 'the end of the connection');
  await floor.reconnected('binance', 2);
  floor.dishonest.delete('binance');
  await floor.step(100_030);
  for (let i = 0; i < 5_000; i++)
    exchange.show('BTC/USDT', `${100_030 + i / 1e4}`, '100040', Number(floor.time.nowNs() / 1_000_000n));
  await floor.step(100_030);
  t.equal(floor.verdict('binance'), 'used');
  neverWrong(t, floor);
});

test('a quiet pair keeps its price, and a dead subscription is found by REST', async (t) => {
  const floor = await TradingFloor.start(t, FOUR);
  floor.dishonest.add('kraken');
  const kraken = floor.exchange('kraken');
  kraken.isQuiet = true;
  const subscriptions = () => kraken.asked.filter((name) => name === 'BTC/USD').length;
  /** Advances the time in steps, so that REST can answer in between. */
  const passing = (isOver: () => boolean, subject: string) =>
    until(() => {
      floor.time.advance(20);
      floor.showAll();
      floor.show('kraken');
      for (const exchange of floor.exchanges.values()) exchange.heartbeat();
      t.equal(floor.verdict('kraken'), 'used');
      return isOver();
    }, subject);
  await passing(() => kraken.askedTops.length >= 6, 'three requests for each pair');
  t.same([...new Set(kraken.askedTops)].sort(), ['USDTUSD', 'XBTUSD'], 'REST still names it so');
  t.same([subscriptions(), kraken.connections], [1, 1], 'it is not subscribed again');
  floor.price = 100_100;
  await passing(() => subscriptions() > 1, 'another subscription');
  t.equal(kraken.connections, 1);
});
