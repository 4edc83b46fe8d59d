import { test } from 'tap';
import { START } from '../plans.js';
import { until } from './manual_time.js';
import { MarketScene } from './market_scene.js';

// Markets that are late, stand still or outvote the others, on real sockets. No published price may follow them.

test('a step of the host’s clock makes nothing young again', async (t) => {
  const scene = await MarketScene.start(
    t,
    { kraken: ['BTC/USD'], coinbase: ['BTC/USD'], bitstamp: ['BTC/USD'] },
    'min_sources: 1, max_age: 10s',
  );
  scene.exchange('kraken').isFrozen = false;
  for (const kind of ['kraken', 'coinbase', 'bitstamp'] as const) await scene.show(kind, 'BTC/USD', 100);
  // Two markets freeze, and their connections stay open.
  for (const kind of ['coinbase', 'bitstamp'] as const) scene.exchange(kind).isFrozen = true;
  for (let i = 1; i <= 60; i++) {
    if (i === 30) scene.wallStepNs = -3_600_000_000_000n;
    if (i > 20) scene.price *= 1.0004;
    await scene.show('kraken', 'BTC/USD', scene.price);
    scene.pass(1_000);
    if (i > 20) t.same(scene.verdicts(), ['used', 'stale', 'stale']);
  }
  scene.summary(t);
  t.equal(scene.wrong, 0);
  t.match(scene.warnings.join('\n'), /the clock of this host has moved by -3600 s/);
  const last = JSON.parse(JSON.stringify(scene.lines.at(-1))) as { timestamp: string };
  t.ok(BigInt(last.timestamp) < START, 'the line shows the time of the wall clock');
});

test('an engine that stands still while REST repeats its last top is unproven', async (t) => {
  for (const kind of ['bitstamp', 'coinbase', 'okx'] as const) {
    const pair = kind === 'okx' ? 'BTC/USDC' : 'BTC/USD';
    const scene = await MarketScene.start(
      t,
      { kraken: ['BTC/USD'], [kind]: [pair] },
      'min_sources: 1, max_age: 2s',
    );
    await scene.show('kraken', 'BTC/USD', 100);
    await scene.show(kind, pair, 100);
    const still = scene.exchange(kind);
    still.isQuiet = true;
    const passed = () => Number(scene.time.nowNs() - START) / 1e9;
    const start = passed();
    const until12 = async (verdict: string, seconds: number, move: number) => {
      while (passed() - start < seconds) {
        scene.price *= move;
        const { length } = still.askedTops;
        await scene.show('kraken', 'BTC/USD', scene.price);
        scene.pass(250);
        if (still.askedTops.length > length) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      await until(() => {
        scene.pass(20);
        return scene.verdicts()[1] === verdict;
      }, `${kind} is ${verdict}`);
    };
    // Nothing moves: it is only quiet.
    await until12('used', 10, 1);
    await until12('unproven', 16, 1.000001);
    const { wrong, published } = scene;
    for (let i = 1; i <= 10; i++) {
      scene.price *= 1.001;
      await scene.show('kraken', 'BTC/USD', scene.price);
      scene.pass(250);
    }
    t.equal(scene.wrong, wrong, `${kind}: no price of it`);
    t.ok(scene.published > published);
    still.isQuiet = false;
    await scene.show(kind, pair, scene.price);
    t.equal(scene.verdicts()[1], 'used', `${kind} counts again with its first frame`);
    scene.summary(t);
  }
});
