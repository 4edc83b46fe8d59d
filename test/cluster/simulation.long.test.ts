import { test } from 'tap';
import { withstands } from './simulation/withstands.js';

// Tests with seeds that no earlier run has used, because the seeds follow the time in seconds.

const PART = 2_000;
const THREADS = 2;
const TIMEOUT_MS = 300_000;
/**
 * The difference between the first seeds of two consecutive seconds. A run uses fewer seeds in a second, so no run repeats seeds
 * of an earlier run.
 */
const SEEDS_PER_SECOND = 200;
/** The number of seeds. A seed has 32 bits. */
const SEEDS = 2 ** 32;

const count = Number(process.env['TICKSEAL_TEST_SEEDS'] ?? 100_000);
const start = (Math.floor(Date.now() / 1000) * SEEDS_PER_SECOND) % SEEDS;
for (let done = 0; done < count; done += PART) {
  const first = start + done;
  const last = start + Math.min(done + PART, count) - 1;
  test(`fresh seeds ${first} to ${last}`, { timeout: TIMEOUT_MS }, async (t) => {
    const { repeatedTimes } = await withstands(t, { first, last }, THREADS);
    t.equal(repeatedTimes, 0, 'no time has two values');
  });
}
