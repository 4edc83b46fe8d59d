import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { START } from '../plans.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';
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
