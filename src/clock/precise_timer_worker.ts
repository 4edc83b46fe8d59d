import { parentPort, workerData } from 'node:worker_threads';
import { NEVER_NS, NEXT, POSTED, STOP_NS, WAKES } from './precise_timer.js';

// Posts one message at the time that is set. A wait on shared memory wakes within 0.1 ms, and ends early when an earlier
// time is set. No second message is posted until the first one is taken.
const timesNs = workerData as BigInt64Array;
let doneNs = 0n;
for (;;) {
  const nextNs = Atomics.load(timesNs, NEXT);
  if (nextNs === STOP_NS) break;
  const nowNs = process.hrtime.bigint();
  if (nextNs > nowNs) {
    sleep(nextNs, nextNs, nowNs);
    continue;
  }
  if (Atomics.compareExchange(timesNs, POSTED, 0n, nextNs) === 0n) parentPort!.postMessage(undefined);
  // Most times come at an interval. Waking up for the next one without being woken takes 20 % less CPU time of both threads.
  sleep(nextNs, nextNs + (nextNs - doneNs), nowNs);
  if (Atomics.load(timesNs, NEXT) === nextNs) sleep(nextNs, NEVER_NS, nowNs);
  doneNs = nextNs;
}

/** Returns at `wakesNs`, or when a time other than `nextNs` is set that is before `wakesNs`. */
function sleep(nextNs: bigint, wakesNs: bigint, nowNs: bigint): void {
  Atomics.store(timesNs, WAKES, wakesNs);
  Atomics.wait(timesNs, NEXT, nextNs, Number(wakesNs - nowNs) / 1e6);
}
