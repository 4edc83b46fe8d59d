import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Scale } from '../harness/row.js';

const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 500, smoke: 5 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 10 };

/**
 * Hashes and signs bodies of this size on as many threads as the machine has cores. Cores may be slower together than one alone: they may share
 * a core of the host, or its clock rate may depend on how many work.
 * @returns signatures per second of CPU time, of all threads
 */
export async function signOnAllCores(scale: Scale, bodyBytes: number): Promise<number> {
  const workers = Array.from(
    { length: availableParallelism() },
    () =>
      new Worker(new URL('./signing_thread.js', import.meta.url), { workerData: bodyBytes, execArgv: [] }),
  );
  const signFor = async (ms: number): Promise<number> => {
    const counts = workers.map((worker) => once(worker, 'message') as Promise<[number]>);
    for (const worker of workers) worker.postMessage(ms);
    return (await Promise.all(counts)).reduce((sum, [calls]) => sum + calls, 0);
  };
  await signFor(WARM_UP_MS[scale]);
  const start = process.cpuUsage();
  const calls = await signFor(MEASURE_MS[scale]);
  const { user, system } = process.cpuUsage(start);
  await Promise.all(workers.map((worker) => worker.terminate()));
  return calls / ((user + system) / 1e6);
}
