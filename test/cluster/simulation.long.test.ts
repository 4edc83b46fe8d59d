import { test } from 'tap';
import { withstands } from './simulation/withstands.js';

// Seeds that no run before has tried: they follow the time in seconds.

const PART = 5_000;
/** A number of seeds above that of any run in a second, so that no run tries the seeds of the run before. */
const SEEDS_PER_SECOND = 200;
/** A seed has 32 bits. */
const SEEDS = 2 ** 32;

const count = Number(process.env['TICKSEAL_TEST_SEEDS'] ?? 100_000);
const start = (Math.floor(Date.now() / 1000) * SEEDS_PER_SECOND) % SEEDS;
for (let done = 0; done < count; done += PART) {
  const first = start + done;
  const last = start + Math.min(done + PART, count) - 1;
  test(`fresh seeds ${first} to ${last}`, async (t) => {
    await withstands(t, { first, last });
  });
}
