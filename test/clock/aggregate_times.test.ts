import fc from 'fast-check';
import { test } from 'tap';
import { AggregateTimes } from '../../src/clock/aggregate_times.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { START_NS } from '../model/sample.js';
import { FakeClock } from './fake_clock.js';
import { MemoryMarks } from './memory_marks.js';

const HOUR_NS = 3_600n * NS_PER_SECOND;

function open(clock: FakeClock, marks: MemoryMarks, startAfterNs = 0n): AggregateTimes {
  return new AggregateTimes(clock, marks.placeOf('aggregates'), startAfterNs);
}

test('times are those of the clock, and grow by 1 ns while it stands or is behind', async (t) => {
  const clock = new FakeClock();
  const times = open(clock, new MemoryMarks());
  t.equal(times.next(), START_NS);
  t.equal(times.next(), START_NS + 1n);
  clock.advance(-HOUR_NS);
  t.equal(times.next(), START_NS + 2n);
  t.equal(times.aheadNs, HOUR_NS + 2n);
  clock.advance(2n * HOUR_NS);
  t.equal(times.next(), START_NS + HOUR_NS);
  t.equal(times.aheadNs, 0n);
});

test('times are not ahead of the latest time that another clock gives, and still grow', async (t) => {
  const clock = new FakeClock();
  let latestNs: bigint | undefined;
  const times = new AggregateTimes(clock, new MemoryMarks().placeOf('aggregates'), 0n, () => latestNs);
  t.equal(times.next(), START_NS);
  clock.advance(HOUR_NS);
  latestNs = START_NS + 5n;
  t.equal(times.next(), START_NS + 5n);
  t.equal(times.next(), START_NS + 6n);
  latestNs = clock.nowNs() + 5n;
  t.equal(times.next(), clock.nowNs());
});

test('over steps of the clock, slow and failing writes, kills and starts no time comes twice or goes back', async () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant('sign' as const) },
    { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 800n * NS_PER_MS }) },
    { weight: 1, arbitrary: fc.constantFrom(HOUR_NS, -HOUR_NS, -30n * NS_PER_SECOND, 30n * NS_PER_SECOND) },
    { weight: 3, arbitrary: fc.constantFrom('slow' as const, 'fast' as const, 'fail' as const) },
    { weight: 1, arbitrary: fc.constantFrom('kill' as const, 'kill after the write' as const) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 200, size: 'max' }), async (steps) => {
      const clock = new FakeClock();
      const marks = new MemoryMarks();
      let times = open(clock, marks);
      let lastNs = 0n;
      for (const one of steps) {
        if (typeof one === 'bigint') clock.advance(one);
        else if (one === 'slow') marks.isSlow = true;
        else if (one === 'fail') marks.settle(false);
        else if (one === 'fast') {
          marks.isSlow = false;
          marks.settle();
        } else if (one !== 'sign') {
          marks.crash(() => one === 'kill after the write');
          times = open(clock, marks);
        }
        const timeNs = times.next();
        if (timeNs === undefined) continue;
        if (timeNs <= lastNs) throw new Error(`${timeNs} after ${lastNs}`);
        if (timeNs > marks.onDisk.get('aggregates')!) throw new Error(`${timeNs} is past the mark`);
        lastNs = timeNs;
      }
    }),
    { numRuns: 500 },
  );
});
