import { test } from 'tap';
import { CallerTimes } from '../../../src/server/access/caller_times.js';

/** The number of callers, above the number of slots in the memory. */
const STRANGERS = 300_000;
const BUSY = 100;
/** The number of callers at each end for which the test searches. */
const SAMPLE = 10_000;

test('when there are too many callers, those that are busy longest are remembered', async (t) => {
  const times = new CallerTimes();
  for (let i = 0; i < BUSY; i++) times.update(`busy ${i}`, () => 1_000_000n);
  for (let i = 0; i < STRANGERS; i++) times.update(`stranger ${i}`, () => BigInt(i));
  for (let i = 0; i < BUSY; i++) t.equal(times.read(`busy ${i}`), 1_000_000n, 'each busy caller is known');
  const knownFrom = (start: number) => {
    const numbers = Array.from({ length: SAMPLE }, (_, i) => i + start);
    const known = numbers.filter((i) => times.read(`stranger ${i}`) > 0n);
    const wrong = known.filter((i) => times.read(`stranger ${i}`) !== BigInt(i));
    t.same(wrong, [], 'none has the time of another');
    return known.length;
  };
  const recent = knownFrom(STRANGERS - SAMPLE);
  const old = knownFrom(0);
  t.ok(recent > 9_900, `${recent} of the last 10,000 are known`);
  t.ok(old < 1_000, `${old} of the first 10,000 are known`);
});
