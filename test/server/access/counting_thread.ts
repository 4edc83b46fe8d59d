import { parentPort, workerData } from 'node:worker_threads';
import { CallerTimes, type CallerTimesMemory } from '../../../src/server/access/caller_times.js';
import { CallerCounts, type CallersMemory } from '../../../src/server/access/shared_access.js';

/** The number of threads that count together. All threads count the same callers at the same time. */
export const COUNTING_THREADS = 2;

export interface CountingThreadStart {
  readonly thread: number;
  readonly callers: CallersMemory;
  readonly times: CallerTimesMemory;
  /** An `Int32` that counts how often a thread was ready for the next caller. */
  readonly ready: SharedArrayBuffer;
  readonly rounds: number;
  readonly triesPerRound: number;
  readonly connectionsMax: number;
}

/** The results by round. */
export interface CountingThreadReport {
  readonly opened: readonly number[];
}

export const callerOf = (round: number) => `caller ${round}`;

if (parentPort !== null) {
  const start = workerData as CountingThreadStart;
  const counts = new CallerCounts(start.callers, start.thread);
  const times = new CallerTimes(start.times);
  const ready = new Int32Array(start.ready);
  const opened: number[] = [];
  for (let round = 0; round < start.rounds; round++) {
    const caller = callerOf(round);
    Atomics.add(ready, 0, 1);
    while (Atomics.load(ready, 0) < (round + 1) * COUNTING_THREADS);
    const place = counts.placeOf(caller);
    let count = 0;
    for (let i = 0; i < start.triesPerRound; i++) {
      times.update(caller, (before) => before + 1n);
      if (counts.open(place, start.connectionsMax)) count++;
    }
    opened.push(count);
  }
  parentPort.postMessage({ opened } satisfies CountingThreadReport);
}
