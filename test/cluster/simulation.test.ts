import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'tap';
import type { Schedules, Summary } from './simulation/schedules.js';
import { simulate } from './simulation/simulation.js';

// Schedules of faults that follow from a seed, under a clock that only they move. To run one of them: SEED=42 node
// dist/test/cluster/simulation.test.js

const SCHEDULES = 10_000;

const seed = process.env.SEED === undefined ? undefined : Number(process.env.SEED);
const [first, last] = seed === undefined ? [1, SCHEDULES] : [seed, seed];

test(`whatever fails, the log has one author at a time (seeds ${first} to ${last})`, async (t) => {
  const { failures, epochs, acknowledged } = await run({ first, last });
  t.same(failures, []);
  t.comment(`${epochs} epochs, ${acknowledged} durable acknowledgements`);
  if (seed !== undefined) return;
  t.ok(epochs > 1.5 * SCHEDULES, 'nodes took over');
  t.ok(acknowledged > 3 * SCHEDULES, 'publishers were told that updates are durable');
});

test('a schedule follows from its seed', async (t) => {
  t.same(await simulate(7), await simulate(7));
  t.not((await simulate(7)).records, (await simulate(8)).records);
});

async function run(schedules: Schedules): Promise<Summary> {
  const worker = new Worker(new URL('./simulation/schedules.js', import.meta.url), {
    workerData: schedules,
    execArgv: [],
  });
  const [summary] = (await once(worker, 'message')) as [Summary];
  return summary;
}
