import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import type { Schedules, Summary } from './schedules.js';

/** Runs the schedules of all seeds from `first` to `last` on a thread. A failure names its seed. */
export async function withstands(t: Test, { first, last }: Schedules): Promise<void> {
  const count = last - first + 1;
  const { failures, epochs, acknowledged } = await run({ first, last });
  t.same(failures, []);
  t.comment(`${epochs} epochs, ${acknowledged} durable acknowledgements`);
  // A single schedule may contain no events, so these checks need several schedules.
  if (count === 1) return;
  t.ok(epochs > 1.5 * count, 'nodes took over');
  t.ok(acknowledged > 3 * count, 'publishers were told that updates are durable');
}

async function run(schedules: Schedules): Promise<Summary> {
  const worker = new Worker(new URL('./schedules.js', import.meta.url), {
    workerData: schedules,
    execArgv: [],
  });
  const [summary] = (await once(worker, 'message')) as [Summary];
  return summary;
}
