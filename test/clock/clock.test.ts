import fc from 'fast-check';
import { test } from 'tap';
import { systemClock } from '../../src/clock/clock.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { FakeSources } from './fake_sources.js';

const HOUR_NS = 3_600n * NS_PER_SECOND;

test('the clock is the wall clock, finer than its milliseconds', async (t) => {
  const clock = systemClock();
  const beforeNs = BigInt(Date.now()) * NS_PER_MS;
  const seen = new Set(Array.from({ length: 1_000 }, () => clock.nowNs()));
  const afterNs = BigInt(Date.now()) * NS_PER_MS;
  for (const timeNs of seen) if (timeNs < beforeNs - NS_PER_MS || timeNs > afterNs + 2n * NS_PER_MS) t.fail();
  t.ok(seen.size > 100, `${seen.size} different times`);
});

/** Advances the time and reads the clock at an interval, as a service does. */
function run(sources: FakeSources, clock: Clock, durationNs: bigint, stepNs = 10n * NS_PER_MS): bigint {
  const endNs = sources.elapsedNs + durationNs;
  let aheadNs = 0n;
  while (sources.elapsedNs < endNs) {
    sources.pass(stepNs);
    aheadNs = clock.nowNs() - sources.wallNs;
  }
  return aheadNs;
}

test('a jump is believed after 10 s, and with a witness only when it agrees; every jump is counted', async (t) => {
  const sources = new FakeSources();
  const clock = systemClock(sources);
  sources.steppedNs -= HOUR_NS;
  t.ok(isAbout(run(sources, clock, 9_900n * NS_PER_MS), HOUR_NS), 'not before');
  t.ok(isAbout(run(sources, clock, 200n * NS_PER_MS), 0n));
  let isRight = false;
  const asked: bigint[] = [];
  clock.heed!((jumpNs) => {
    asked.push(jumpNs);
    return isRight;
  });
  t.equal(clock.jumps, 1);
  sources.steppedNs += HOUR_NS;
  t.ok(isAbout(run(sources, clock, 60n * NS_PER_SECOND), -HOUR_NS), 'the witness says no');
  t.ok(isAbout(asked[0]!, HOUR_NS));
  t.equal(clock.jumps, 2);
  isRight = true;
  t.ok(isAbout(run(sources, clock, NS_PER_SECOND), 0n));
  sources.steppedNs -= 2n * NS_PER_SECOND;
  run(sources, clock, NS_PER_SECOND);
  t.equal(clock.jumps, 3, 'also one that is taken back');
});

test('whatever the wall clock does, only where it stays for 10 s is followed, and it always is', async () => {
  const move = fc.record({
    stepNs: fc.oneof(
      fc.constantFrom(HOUR_NS, -HOUR_NS, 30n * NS_PER_SECOND, -30n * NS_PER_SECOND),
      fc.bigInt({ min: -NS_PER_SECOND, max: NS_PER_SECOND }),
    ),
    staysMs: fc.oneof(fc.integer({ min: 1, max: 9_900 }), fc.integer({ min: 25_000, max: 40_000 })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 12 }), async (moves) => {
      const sources = new FakeSources();
      const clock = systemClock(sources);
      let lastNs = clock.nowNs();
      let stoodSinceNs = 0n;
      for (const { stepNs, staysMs } of moves) {
        sources.steppedNs += stepNs;
        // A smaller step is too small to notice.
        if (stepNs > NS_PER_SECOND || stepNs < -NS_PER_SECOND) stoodSinceNs = sources.elapsedNs;
        const endNs = sources.elapsedNs + BigInt(staysMs) * NS_PER_MS;
        let wasNs = sources.elapsedNs;
        while (sources.elapsedNs < endNs) {
          sources.pass(20n * NS_PER_MS);
          const nowNs = clock.nowNs();
          // The bounds allow the corrections in small steps, and the time of the read.
          const movedNs = nowNs - lastNs - (sources.elapsedNs - wasNs);
          const isSmall = movedNs >= -4n * NS_PER_MS && movedNs <= 4n * NS_PER_MS && nowNs >= lastNs;
          const stoodNs = sources.elapsedNs - stoodSinceNs;
          if (!isSmall && stoodNs < 10n * NS_PER_SECOND)
            throw new Error(`it moved by ${movedNs} ns after ${stoodNs} ns`);
          wasNs = sources.elapsedNs;
          lastNs = nowNs;
        }
        const isFollowed = isAbout(clock.nowNs() - sources.wallNs, 0n);
        if (staysMs >= 25_000 && !isFollowed) throw new Error(`not followed in ${staysMs} ms`);
        lastNs = clock.nowNs();
      }
    }),
    { numRuns: 100 },
  );
});

/** Returns whether two times are equal within the precision of the wall clock's milliseconds for two reads. */
function isAbout(oneNs: bigint, otherNs: bigint): boolean {
  const differenceNs = oneNs - otherNs;
  return differenceNs > -2n * NS_PER_MS && differenceNs < 2n * NS_PER_MS;
}
