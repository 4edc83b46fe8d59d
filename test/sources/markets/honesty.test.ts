import { test } from 'tap';
import type { BuiltInKind } from '../../../src/sources/sources_schema.js';
import { START } from '../plans.js';
import { until } from './manual_time.js';
import { MarketScene } from './market_scene.js';

// Tests of markets that freeze or send garbage, on real sockets. `sources/reference.test.ts` proves the verdicts on their quotes.

const FOUR = { kraken: ['BTC/USD'], coinbase: ['BTC/USD'], bitstamp: ['BTC/USD'], binance: ['BTC/USDT'] };

/** Shows the true price on all markets but one. */
async function showAll(scene: MarketScene, except?: BuiltInKind): Promise<void> {
  for (const { input } of scene.decision.readings)
    if (input.source !== except) await scene.show(input.source as BuiltInKind, input.symbol, scene.price);
}

test('one of four that freezes with its connection open is stale, connected again, and counts again', async (t) => {
  const scene = await MarketScene.start(t, FOUR, 'min_sources: 2, max_age: 5s');
  await showAll(scene);
  const frozen = scene.exchange('kraken');
  frozen.isFrozen = true;
  for (let i = 0; i < 30; i++) {
    scene.price *= 1.0002;
    await showAll(scene, 'kraken');
    scene.pass();
  }
  t.equal(scene.verdicts()[0], 'stale');
  t.ok(frozen.asked.length >= 2, 'it was asked again');
  await until(() => frozen.connections >= 2, 'a new connection');
  frozen.isFrozen = false;
  await scene.show('kraken', 'BTC/USD', scene.price);
  t.equal(scene.verdicts()[0], 'used');
  t.ok(scene.published >= 30);
  t.equal(scene.wrong, 0);
});

test('garbage, a frame of 10 MB, and 5,000 frames at once', async (t) => {
  const scene = await MarketScene.start(t, FOUR);
  await showAll(scene);
  const exchange = scene.exchange('binance');
  for (const text of ['', '{', '<html>502</html>', '[]', 'null', '{"data":{"s":"BTCUSDT","b":{},"a":[]}}'])
    exchange.say(text);
  exchange.say(`{"a":"${'x'.repeat(10 * 1024 ** 2)}"}`);
  await until(() => !exchange.isConnected, 'the end of the connection');
  await until(() => {
    scene.pass(10);
    return exchange.connections === 2;
  }, 'a new connection');
  for (let i = 0; i < 5_000; i++) exchange.show('BTC/USDT', `${90 + i / 1e4}`, '100.01', 0);
  await showAll(scene);
  await until(() => scene.decision.readings[3]!.quote?.bid === 9_999n * 10n ** 16n, 'the newest frame');
  scene.pass();
  t.same(new Set(scene.verdicts()), new Set(['used']));
  t.equal(scene.wrong, 0);
});

test('a step of the host’s clock makes nothing young again', async (t) => {
  const scene = await MarketScene.start(
    t,
    { kraken: ['BTC/USD'], coinbase: ['BTC/USD'] },
    'min_sources: 1, max_age: 10s',
  );
  await showAll(scene);
  scene.exchange('coinbase').isFrozen = true;
  for (let i = 1; i <= 40; i++) {
    if (i === 20) scene.wallStepNs = -3_600_000_000_000n;
    if (i > 11) scene.price *= 1.0004;
    await scene.show('kraken', 'BTC/USD', scene.price);
    scene.pass(1_000);
    if (i > 11) t.same(scene.verdicts(), ['used', 'stale']);
  }
  t.equal(scene.wrong, 0);
  t.match(scene.warnings.join('\n'), /the clock of this host has moved by -3600 s/);
  t.ok(BigInt(scene.lines.at(-1)!.timestamp) < START, 'the line shows the time of the wall clock');
});
