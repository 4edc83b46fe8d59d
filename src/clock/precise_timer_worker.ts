import { parentPort, workerData } from 'node:worker_threads';
import { NEVER_NS, NEXT, POSTED, STOP_NS, WAKES } from './precise_timer.js';

// The worker posts one message at the set time. The wait on shared memory ends within 0.1 ms of that time, and ends early when an
// earlier time is set. The worker posts no second message until the first message is received.
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
  // Most times come at a fixed interval, so the worker wakes up for the next time without a notification. Both threads then
  // take 20 % less CPU time.
  sleep(nextNs, nextNs + (nextNs - doneNs), nowNs);
  if (Atomics.load(timesNs, NEXT) === nextNs) sleep(nextNs, NEVER_NS, nowNs);
  doneNs = nextNs;
}

/** Returns at `wakesNs`, or as soon as the next time changes to a time before `wakesNs`. */
function sleep(nextNs: bigint, wakesNs: bigint, nowNs: bigint): void {
  Atomics.store(timesNs, WAKES, wakesNs);
  Atomics.wait(timesNs, NEXT, nextNs, Number(wakesNs - nowNs) / 1e6);
}
