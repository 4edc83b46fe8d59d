import { parentPort, workerData } from 'node:worker_threads';
import { simulate } from './simulation.js';

// Runs many schedules on a separate thread, because tap follows every promise of its own thread. With tap's tracking, a run takes
// four times as long.

export interface Schedules {
  readonly first: number;
  readonly last: number;
}

export interface Summary {
  readonly epochs: number;
  readonly acknowledged: number;
  readonly repeatedTimes: number;
  /** The first seeds that failed, with the violated invariants. The first one has a description of its schedule. */
  readonly failures: readonly string[];
}

const FAILURES_MAX = 5;

const { first, last } = workerData as Schedules;
const failures: string[] = [];
const sum = { epochs: 0, acknowledged: 0, repeatedTimes: 0 };
for (let seed = first; seed <= last && failures.length < FAILURES_MAX; seed++) {
  const outcome = await simulate(seed);
  for (const key of ['epochs', 'acknowledged', 'repeatedTimes'] as const) sum[key] += outcome[key];
  if (outcome.violations.length > 0) failures.push(await inWords(seed, outcome.violations));
}
parentPort!.postMessage({ ...sum, failures } satisfies Summary);

/** Returns the failure of a seed. Only the first failure describes its schedule. */
async function inWords(seed: number, violations: readonly string[]): Promise<string> {
  const lines = [`SEED=${seed}`, ...violations];
  if (failures.length > 0) return lines.join('\n');
  await simulate(seed, { tell: (what) => lines.push(what) });
  return lines.join('\n');
}
