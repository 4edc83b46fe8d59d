import { test } from 'tap';
import { CallerTimes, createCallerTimes } from '../../../src/server/access/caller_times.js';

/** The number of callers, above the number of slots in the memory. */
const STRANGERS = 300_000;
const BUSY = 100;
/** The number of callers at each end for which the test searches. */
const SAMPLE = 10_000;

test('what one thread writes another one reads', async (t) => {
  const memory = createCallerTimes();
  const [first, second] = [new CallerTimes(memory), new CallerTimes(memory)];
  t.equal(first.read('a'), 0n);
  first.update('a', (before) => before + 5n);
  second.update('a', (before) => before + 6n);
  second.update('b', () => 1n);
  t.same([first.read('a'), second.read('a'), first.read('b')], [11n, 11n, 1n]);
});

test('when there are too many callers, those that are busy longest are remembered', async (t) => {
  const times = new CallerTimes();
  for (let i = 0; i < BUSY; i++) times.update(`busy ${i}`, () => 1_000_000n);
  for (let i = 0; i < STRANGERS; i++) times.update(`stranger ${i}`, () => BigInt(i));
  const busy = Array.from({ length: BUSY }, (_, i) => times.read(`busy ${i}`));
  t.ok(
    busy.every((time) => time === 1_000_000n),
    'each busy caller is known',
  );
  const knownFrom = (start: number) => {
    const read = Array.from(
      { length: SAMPLE },
      (_, i) => [i + start, times.read(`stranger ${i + start}`)] as const,
    );
    const known = read.filter(([, time]) => time > 0n);
    t.ok(
      known.every(([i, time]) => time === BigInt(i)),
      'none has the time of another',
    );
    return known.length;
  };
  const recent = knownFrom(STRANGERS - SAMPLE);
  const old = knownFrom(0);
  t.ok(recent > 9_900, `${recent} of the last 10,000 are known`);
  t.ok(old < 1_000, `${old} of the first 10,000 are known`);
});
