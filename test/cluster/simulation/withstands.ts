import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import type { Schedules, Summary } from './schedules.js';

/**
 * Runs the schedules of all seeds from `first` to `last`. A failure names its seed and describes a small failing schedule.
 * @param threads the number of threads among which the seeds are divided
 */
export async function withstands(
  t: Test,
  { first, last }: Schedules,
  threads = 1,
): Promise<{ readonly repeatedTimes: number }> {
  const count = last - first + 1;
  const size = Math.ceil(count / threads);
  const parts = Array.from({ length: threads }, (_, thread) => {
    const begin = first + thread * size;
    return run({ first: begin, last: Math.min(begin + size - 1, last) });
  });
  const summaries = await Promise.all(parts);
  const sum = (key: Exclude<keyof Summary, 'failures'>) => summaries.reduce((all, one) => all + one[key], 0);
  t.equal(summaries.flatMap(({ failures }) => failures).join('\n\n'), '');
  // A single schedule may contain no events, so these checks need several schedules.
  const repeatedTimes = sum('repeatedTimes');
  if (count === 1) return { repeatedTimes };
  t.ok(sum('epochs') > 1.5 * count, 'nodes took over');
  t.ok(sum('acknowledged') > 3 * count, 'publishers were told that updates are durable');
  return { repeatedTimes };
}

async function run(schedules: Schedules): Promise<Summary> {
  const worker = new Worker(new URL('./schedules.js', import.meta.url), {
    workerData: schedules,
    // A thread loads nothing of the runner, but the bent line of a mutant.
    execArgv: process.execArgv.filter((option) => option.endsWith('mutants/bend.js')),
  });
  const [summary] = (await once(worker, 'message')) as [Summary];
  return summary;
}
