import fc from 'fast-check';
import { test } from 'tap';
import { type StreamEra, StreamTimes } from '../../src/clock/stream_times.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { FakeClock } from './fake_clock.js';
import { MemoryMarks } from './memory_marks.js';

const HOUR_NS = 3_600n * NS_PER_SECOND;
/** The smallest step of `ts`, because the low 12 bits of `ts` are not part of the time. */
const STEP_NS = 4096n;

function open(clock: FakeClock, marks: MemoryMarks, node = 0, thread = 0): StreamTimes {
  return new StreamTimes({ clock, node, thread, placeOf: marks.placeOf });
}

function eraNumberOf(ts: bigint | undefined): number {
  return Number(ts! & 7n);
}

test('ts is not before the clock and ends in the node, the thread and the era', async (t) => {
  const clock = new FakeClock();
  const times = open(clock, new MemoryMarks(), 41, 5);
  const era = times.current();
  for (const ts of [era.next(clock.nowNs()), era.nextSigned(clock.advance(NS_PER_MS))!]) {
    t.equal((ts >> 6n) & 63n, 41n);
    t.equal((ts >> 3n) & 7n, 5n);
    t.ok(ts >= clock.nowNs() - NS_PER_MS && ts - clock.nowNs() < STEP_NS);
  }
  t.throws(() => open(clock, new MemoryMarks(), 64), { name: 'RangeError' });
  t.throws(() => open(clock, new MemoryMarks(), 0, 8), { name: 'RangeError' });
});

test('a step back begins an era at the time of the clock, and the one before goes on for its connections', async (t) => {
  const clock = new FakeClock();
  const times = open(clock, new MemoryMarks());
  const old = times.current();
  old.enter(0n);
  const before = old.nextSigned(clock.nowNs())!;
  clock.advance(-HOUR_NS);
  const era = times.current();
  t.not(era, old);
  const ts = era.nextSigned(clock.nowNs())!;
  t.ok(ts - clock.nowNs() < STEP_NS, 'nobody new is held ahead of the clock');
  t.not(eraNumberOf(ts), eraNumberOf(before));
  t.equal(old.nextSigned(clock.nowNs()), before + STEP_NS);
  t.ok(times.hasEarlier);
  t.ok(times.aheadNs > HOUR_NS - STEP_NS);
  old.leave();
  times.tick(clock.nowNs());
  t.notOk(times.hasEarlier);
  t.equal(times.aheadNs, 0n);
});

test('an era that takes a connection goes on past what that was sent', async (t) => {
  const clock = new FakeClock();
  const times = open(clock, new MemoryMarks());
  const sentNs = clock.nowNs() + 10n * STEP_NS;
  times.current().enter(sentNs);
  t.ok(times.current().next(clock.nowNs()) > sentNs);
});

test('while the clock is behind the marks of all eras signed frames wait, and unsigned ones do not', async (t) => {
  const clock = new FakeClock();
  const marks = new MemoryMarks();
  const lowestNs = clock.nowNs() + 2n * NS_PER_SECOND;
  for (let i = 0; i < 8; i++) open(clock, marks);
  clock.advance(-30n * NS_PER_SECOND);
  const times = open(clock, marks);
  const era = times.current();
  era.enter(0n);
  t.equal(era.nextSigned(clock.nowNs()), undefined);
  t.ok(era.next(clock.nowNs()) - clock.nowNs() < STEP_NS);
  clock.advance(1_500n * NS_PER_MS);
  t.equal(era.nextSigned(clock.nowNs()), undefined);
  t.equal(times.isHeld(clock.nowNs()), true, 'and says so');
  t.equal(times.isHeld(clock.advance(3n * NS_PER_SECOND)), false, 'while anybody tries');
  clock.timeNs = lowestNs;
  t.equal(era.nextSigned(clock.nowNs()), undefined);
  clock.advance(1n);
  t.ok(era.nextSigned(clock.nowNs())! > lowestNs);
  t.equal(times.isHeld(clock.nowNs()), false);
});

const place = fc.nat(5);
/** Changes of a connection, of the clock, of the disk and of the process. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('connect', 'leave'), place }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constantFrom('signed', 'unsigned'), place }) },
  { weight: 3, arbitrary: fc.constantFrom(1n, 1_000n, NS_PER_MS, 400n * NS_PER_MS, HOUR_NS) },
  { weight: 1, arbitrary: fc.constantFrom(30n * NS_PER_SECOND, -1n, -HOUR_NS, -30n * NS_PER_SECOND) },
  { weight: 4, arbitrary: fc.constantFrom('slow', 'fast', 'fail', 'tick') },
  { weight: 1, arbitrary: fc.constantFrom('kill', 'kill after the write') },
);

test('over steps of the clock, kills and starts no ts is signed twice, and within an era it grows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 300, size: 'max' }), async (steps) => {
      const clock = new FakeClock();
      const marks = new MemoryMarks();
      let times = open(clock, marks);
      let connected: (StreamEra | undefined)[] = [];
      const signed = new Set<bigint>();
      let lasts = new Map<StreamEra, bigint>();
      for (const one of steps) {
        if (typeof one === 'bigint') clock.advance(one);
        else if (one === 'tick') times.tick(clock.nowNs());
        else if (one === 'slow') marks.isSlow = true;
        else if (one === 'fail') marks.settle(false);
        else if (one === 'fast') {
          marks.isSlow = false;
          marks.settle();
        } else if (typeof one === 'string') {
          marks.crash(() => one === 'kill after the write');
          times = open(clock, marks);
          connected = [];
          lasts = new Map();
        } else if (one.do === 'leave') {
          connected[one.place]?.leave();
          connected[one.place] = undefined;
        } else if (one.do === 'connect' && connected[one.place] === undefined) {
          const era = times.current();
          era.enter(0n);
          connected[one.place] = era;
        } else {
          const era = connected[one.place];
          if (era === undefined) continue;
          const isCurrent = era === times.current();
          const ts = one.do === 'signed' ? era.nextSigned(clock.nowNs()) : era.next(clock.nowNs());
          if (ts === undefined) continue;
          const last = lasts.get(era) ?? 0n;
          if (ts <= last) throw new Error(`${ts} after ${last}`);
          lasts.set(era, ts);
          const latest = last > clock.timeNs ? last : clock.timeNs;
          if (isCurrent && ts > latest + 2n * STEP_NS) throw new Error(`${ts - latest} ns ahead`);
          if (one.do !== 'signed') continue;
          if (signed.has(ts)) throw new Error(`${ts} is signed twice`);
          signed.add(ts);
        }
      }
    }),
    { numRuns: 500 },
  );
});
