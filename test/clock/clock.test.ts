import { test } from 'tap';
import { systemClock } from '../../src/clock/clock.js';
import { NS_PER_MS } from '../../src/model/time.js';

test('the clock is the wall clock, finer than its milliseconds', async (t) => {
  const clock = systemClock();
  const seen = new Set<bigint>();
  const untilMs = Date.now() + 30;
  while (Date.now() < untilMs) {
    const beforeNs = BigInt(Date.now()) * NS_PER_MS;
    const timeNs = clock.nowNs();
    const afterNs = BigInt(Date.now()) * NS_PER_MS;
    if (timeNs < beforeNs - NS_PER_MS || timeNs > afterNs + 2n * NS_PER_MS)
      t.fail(`${timeNs} is not between ${beforeNs} and ${afterNs}`);
    seen.add(timeNs);
  }
  t.ok(seen.size > 100, `${seen.size} different times in 30 ms`);
});

test('a wall clock that is stepped is followed at once, in both directions', async (t) => {
  const realNow = Date.now;
  t.teardown(() => {
    Date.now = realNow;
  });
  const clock = systemClock();
  const hourMs = 3_600_000;
  for (const offsetMs of [-hourMs, hourMs, 5, -5, 0]) {
    Date.now = () => realNow() + offsetMs;
    const differenceNs = clock.nowNs() - BigInt(Date.now()) * NS_PER_MS;
    // A descheduled process may read the two clocks some time apart.
    t.ok(differenceNs > -100n * NS_PER_MS && differenceNs < 3n * NS_PER_MS, `${offsetMs} ms`);
  }
});

test('between steps it does not go back', async (t) => {
  const clock = systemClock();
  let last = clock.nowNs();
  let backNs = 0n;
  for (let i = 0; i < 20_000; i++) {
    const now = clock.nowNs();
    if (last - now > backNs) backNs = last - now;
    last = now;
  }
  // Being anchored anew at the wall clock's millisecond may cost the part of it that is gone.
  t.ok(backNs <= NS_PER_MS, `${backNs} ns back`);
});

test('it is exact when the thread loses its core while the clock is read', async (t) => {
  // Each look at a clock takes 0.5 µs, and some of the first ones 0.7 ms.
  const trueStartNs = 1_790_000_000_000_400_000n;
  for (let lostAt = 1; lostAt < 4_000; lostAt += 7) {
    let elapsedNs = 0n;
    let looks = 0;
    const look = () => {
      elapsedNs += ++looks === lostAt ? 700_000n : 500n;
      return trueStartNs + elapsedNs;
    };
    const clock = systemClock({
      wallMs: () => Number(look() / NS_PER_MS),
      monotonicNs: () => look() - trueStartNs,
    });
    const differenceNs = clock.nowNs() - (trueStartNs + elapsedNs);
    if (differenceNs < -20_000n || differenceNs > 20_000n)
      t.fail(`${differenceNs} ns off when look ${lostAt} took 0.7 ms`);
  }
});

test('it ends on a machine where no reading is exact', async (t) => {
  let elapsedNs = 0n;
  let looks = 0;
  const look = () => {
    looks++;
    elapsedNs += 300_000n;
    return elapsedNs;
  };
  const clock = systemClock({ wallMs: () => Number(look() / NS_PER_MS), monotonicNs: look });
  for (let i = 0; i < 100; i++) {
    const differenceNs = clock.nowNs() - elapsedNs;
    t.ok(differenceNs >= -2n * NS_PER_MS && differenceNs <= 0n, `${differenceNs} ns`);
  }
  t.ok(looks < 500, `${looks} looks`);
});
