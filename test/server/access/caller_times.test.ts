import { test } from 'tap';
import { CallerTimes, createCallerTimes } from '../../../src/server/access/caller_times.js';

/** The number of callers, which is larger than the memory's number of places. */
const STRANGERS = 300_000;
const BUSY = 100;

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
  const known = Array.from({ length: STRANGERS }, (_, i) => times.read(`stranger ${i}`));
  t.ok(
    known.every((time, i) => time === 0n || time === BigInt(i)),
    'none has the time of another',
  );
  const recent = known.slice(-10_000).filter((time) => time > 0n).length;
  const old = known.slice(0, 10_000).filter((time) => time > 0n).length;
  t.ok(recent > 9_900, `${recent} of the last 10,000 are known`);
  t.ok(old < 1_000, `${old} of the first 10,000 are known`);
});
