import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { START } from '../plans.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';
import { MarketScene } from './market_scene.js';

// Markets that are late, stand still or outvote the others, on real sockets. No published price may follow them.

test('a source with five markets has one vote', async (t) => {
  const pairs = ['USD', 'EUR', 'GBP', 'USDT', 'USDC'].map((quote) => `BTC/${quote}`);
  const scene = await MarketScene.start(t, { kraken: ['BTC/USD'], coinbase: ['BTC/USD'], bitstamp: pairs });
  for (const kind of ['kraken', 'coinbase'] as const) await scene.show(kind, 'BTC/USD', scene.price);
  for (let i = 1; i <= 65; i++) {
    for (const pair of pairs) await scene.show('bitstamp', pair, scene.price * 1.009);
    await scene.show('kraken', 'BTC/USD', scene.price);
    await scene.show('coinbase', 'BTC/USD', scene.price);
    scene.pass();
  }
  scene.summary(t);
  t.ok(scene.published >= 65);
  t.equal(scene.wrong, 0);
  t.equal(scene.lines.at(-1)!.used, '3 of 3 sources, 3 order books');
});

test('two of three exchanges that are 20 s late do not count', async (t) => {
  const scene = await MarketScene.start(
    t,
    { kraken: ['BTC/USD'], coinbase: ['BTC/USD'], bitstamp: ['BTC/USD'] },
    'min_sources: 1, max_age: 2s',
  );
  const history: number[] = [];
  for (let i = 0; i < 120; i++) {
    scene.price *= 1.0002;
    history.push(scene.price);
    await scene.show('kraken', 'BTC/USD', scene.price);
    // From the 41st step on, both show the price of 20 s ago.
    const shown = i < 40 ? i : i - 40;
    for (const kind of ['coinbase', 'bitstamp'] as const)
      await scene.show(kind, 'BTC/USD', history[shown]!, (i - shown) * 500);
    scene.pass();
  }
  scene.summary(t);
  t.ok(scene.published >= 120);
  t.equal(scene.wrong, 0);
  t.same(scene.verdicts(), ['used', 'late', 'late']);
});

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

test('a market that stands still moves the price only until it is unproven', async (t) => {
  const scene = await MarketScene.start(
    t,
    { kraken: ['BTC/USD'], coinbase: ['BTC/USD'] },
    'min_sources: 1, max_age: 2s',
  );
  for (const kind of ['kraken', 'coinbase'] as const) await scene.show(kind, 'BTC/USD', 100);
  const still = scene.exchange('coinbase');
  still.isQuiet = true;
  for (let step = 0; step < 160; step++) {
    const before = scene.wrong;
    scene.price *= 1.0001;
    const { length } = still.askedTops;
    await scene.show('kraken', 'BTC/USD', scene.price);
    scene.pass(250);
    if (still.askedTops.length > length) await new Promise((resolve) => setTimeout(resolve, 8));
    // Six times max_age are 48 steps.
    if (step > 50) t.equal(scene.wrong, before, `step ${step}`);
  }
  scene.summary(t);
  t.ok(scene.furthest < 0.3, 'half of the move in that time');
});

test('a time that the operator named is the quote’s time', async (t) => {
  let at: unknown = new Date(Number(START / 1_000_000n)).toISOString();
  const server = createServer((_, response) => response.end(JSON.stringify({ rate: 1.1, time: at })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const time = new ManualTime();
  const { run } = manualRun(
    t,
    `sources: { web: { kind: http, url: "http://127.0.0.1:${port}/{symbol}", every: 1s, price: $.rate, at: $.time } }\nassets: { A: { from: [web EUR], min_sources: 1, max_age: 60s } }`,
    time,
  );
  await run.open();
  const day = 86_400_000;
  const now = Number(START / 1_000_000n);
  for (const [value, verdict] of [
    [at, 'used'],
    [new Date(now - 2 * day).toISOString(), 'late'],
    [new Date(now).toISOString().slice(0, 10), 'late'],
    ['yesterday', 'no time'],
    [undefined, 'no time'],
    [now / 1000, 'used'],
    [String(BigInt(now) * 1_000_000n), 'used'],
  ] as const) {
    at = value;
    const { frames } = run.meter.sources.get('web')!;
    time.advance(frames === 0 ? 0 : 60_001);
    at =
      value === undefined || verdict !== 'used'
        ? value
        : typeof value === 'number'
          ? Number(time.nowNs() / 1_000_000n) / 1000
          : new Date(Number(time.nowNs() / 1_000_000n)).toISOString();
    await until(() => {
      time.advance(100);
      return run.decisions()[0]!.readings[0]!.verdict === verdict;
    }, `${value}: ${verdict}, not ${run.decisions()[0]!.readings[0]!.verdict}`);
  }
  t.pass();
});
