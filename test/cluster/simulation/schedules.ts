import { parentPort, workerData } from 'node:worker_threads';
import { simulate } from './simulation.js';

// Runs many schedules on a separate thread, because tap follows every promise of its own thread. That takes four times as
// long.

export interface Schedules {
  readonly first: number;
  readonly last: number;
}

export interface Summary {
  readonly epochs: number;
  readonly acknowledged: number;
  /** The first seeds that failed, with their faults. */
  readonly failures: readonly string[];
}

const FAILURES_MAX = 5;

const { first, last } = workerData as Schedules;
const failures: string[] = [];
let epochs = 0;
let acknowledged = 0;
for (let seed = first; seed <= last && failures.length < FAILURES_MAX; seed++) {
  const outcome = await simulate(seed);
  epochs += outcome.epochs;
  acknowledged += outcome.acknowledged;
  if (outcome.violations.length > 0) failures.push(`SEED=${seed}\n${outcome.violations.join('\n')}`);
}
parentPort!.postMessage({ epochs, acknowledged, failures } satisfies Summary);
