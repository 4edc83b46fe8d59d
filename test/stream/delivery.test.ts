import { test } from 'tap';
import type { StreamQuery } from '../../src/stream/stream_options.js';
import { maskOf } from '../../src/wire/attribute_facts.js';
import type { Channel } from '../../src/wire/stream.js';
import { Harness, REAL_TIME, SIGNED_REAL_TIME } from './harness.js';

/** The step of `ts`, because the low 12 bits of `ts` are not part of the time. */
const TIMESTAMP_STEP_NS = 4096n;
const every10ms: StreamQuery = { ...REAL_TIME, channel: '10ms' };
const MS = 1_000_000n;

test('real_time: a snapshot at once, then what changed, once a turn, in ascending order of IDs', async (t) => {
  const harness = new Harness();
  harness.price(3, 30n);
  harness.price(1, 10n);
  const client = harness.connect();
  client.subscribe(65_535, 3, 1);
  t.same(client.news(), ['1=10 3=30']);
  harness.advanceMs(1);
  harness.price(65_535, -1n);
  harness.price(1, 11n);
  harness.price(1, 12n);
  harness.price(500, 5n);
  t.same(client.news(), []);
  harness.endTurn();
  t.same(client.news(), ['1=12 65535=-1']);
  harness.price(1, 12n);
  harness.endTurn();
  harness.advanceMs(20);
  t.same(client.news(), [], 'nothing changed');
});

test('real_time: few connections get the first message of a turn at its end, many at the end of the turn', async (t) => {
  const cases: [connections: number, options: StreamQuery, atOnce: boolean][] = [
    [1, REAL_TIME, true],
    [32, REAL_TIME, true],
    [33, REAL_TIME, false],
    [32, SIGNED_REAL_TIME, true],
    [33, SIGNED_REAL_TIME, false],
  ];
  for (const [connections, options, atOnce] of cases) {
    const harness = new Harness();
    harness.price(1, 10n);
    const clients = Array.from({ length: connections }, () => harness.connect(options));
    for (const client of clients) client.subscribe(1, 3);
    harness.advanceMs(2);
    for (const client of clients) client.news();
    harness.price(1, 11n);
    harness.price(3, 30n);
    for (const client of clients) t.same(client.news(), [], 'its message may have more prices');
    harness.engine.messageApplied();
    for (const client of clients) t.same(client.news(), atOnce ? ['1=11 3=30'] : []);
    harness.endTurn();
    for (const client of clients) t.same(client.news(), atOnce ? [] : ['1=11 3=30']);
    harness.advanceMs(2);
    harness.price(1, 12n);
    harness.engine.messageApplied();
    harness.clock.advance(2n * MS);
    for (const price of [13n, 14n]) {
      harness.price(1, price);
      harness.engine.messageApplied();
    }
    for (const client of clients) t.same(client.news(), atOnce ? ['1=12'] : [], 'once a turn');
    harness.endTurn();
    for (const client of clients) t.same(client.news(), ['1=14']);
  }
});

test('fixed channels: every live asset at each wall-clock multiple, changed or not; no live asset, no frame', async (t) => {
  const intervalsMs: Partial<Record<Channel, number>> = { '10ms': 10, '50ms': 50, '1s': 1000 };
  const harness = new Harness();
  harness.clock.advance(3n * MS + 77n);
  const clients = Object.entries(intervalsMs).map(([channel, intervalMs]) => {
    const client = harness.connect({ ...REAL_TIME, channel: channel as Channel });
    client.subscribe(3, 1);
    return { client, intervalMs };
  });
  harness.advanceMs(500);
  for (const { client } of clients) t.same(client.news(), []);
  harness.price(1, 5n);
  const startNs = harness.clock.timeNs;
  harness.advanceMs(2000);
  for (const { client, intervalMs } of clients) {
    const interval = BigInt(intervalMs) * MS;
    t.equal(client.frames.length, 2000 / intervalMs);
    client.frames.forEach(({ sentAtNs, ts }, i) => {
      const tickNs = (startNs / interval + BigInt(i) + 1n) * interval;
      t.ok(sentAtNs >= tickNs && sentAtNs < tickNs + MS);
      t.ok(ts >= sentAtNs && ts < sentAtNs + 2n * TIMESTAMP_STEP_NS);
    });
    t.equal(new Set(client.news()).size, 1);
  }
  t.equal(harness.counters.ticksSkipped, 0);
});

test('fixed channels: missed ticks are counted, not sent later', async (t) => {
  const harness = new Harness();
  harness.price(1, 5n);
  const client = harness.connect(every10ms);
  client.subscribe(1);
  harness.advanceMs(10, 10);
  harness.advanceMs(100, 100);
  t.same(client.news(), ['1=5', '1=5']);
  t.equal(harness.counters.ticksSkipped, 9);
});

test('one frame is made for all that share a group, and they get the same bytes', async (t) => {
  for (const options of [every10ms, REAL_TIME, { ...SIGNED_REAL_TIME, mask: maskOf(['ms']) }]) {
    const harness = new Harness();
    const clients = Array.from({ length: 5 }, () => harness.connect(options));
    for (const client of clients) client.subscribe(1, 3);
    harness.price(1, 5n);
    harness.endTurn();
    harness.advanceMs(10);
    t.equal(harness.counters.framesMade, 1);
    for (const client of clients) t.equal(client.last!.text, clients[0]!.last!.text);
  }
});
