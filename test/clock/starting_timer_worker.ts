import { workerData } from 'node:worker_threads';
import { NEXT, STOP_NS } from '../../src/clock/precise_timer.js';

// A thread of a timer that never gets past its start. It ends when the timer stops.
const timesNs = workerData as BigInt64Array;
for (;;) {
  const nextNs = Atomics.load(timesNs, NEXT);
  if (nextNs === STOP_NS) break;
  Atomics.wait(timesNs, NEXT, nextNs, 5);
}
