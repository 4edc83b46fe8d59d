import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Test } from 'tap';
import type { Found, Search } from './search.js';

const SCHEDULES_MAX = 2_000;

export const TWO_AUTHORS = /record \d+ of n\S+ in epoch \d+ follows epoch/;

/** Checks that some seed's schedule violates an invariant. @returns the first such seed */
export async function failsSome(t: Test, rule: RegExp, mutant: Search['mutant']): Promise<Found> {
  const workerData: Search = { mutant, rule, schedulesMax: SCHEDULES_MAX };
  const worker = new Worker(new URL('./search.js', import.meta.url), { workerData, execArgv: [] });
  const [found] = (await once(worker, 'message')) as [Found];
  t.ok(found, found ? `seed ${found.seed}: ${found.violation}` : `no schedule of ${SCHEDULES_MAX} shows it`);
  return found;
}
