import { parentPort, workerData } from 'node:worker_threads';
import { NS_PER_MS } from '../model/time.js';
import { systemClock } from './clock.js';
import { TICKER_INTERVAL_MS, TICKER_POSTED } from './ticker.js';

// Waits for the next wall-clock multiple of the interval and posts it. A wait on shared memory wakes within 0.1 ms and
// ends early when the interval changes. It posts no second tick until the main thread has taken the last one.
const shared = workerData as Int32Array;
const clock = systemClock();
for (;;) {
  const intervalMs = Atomics.load(shared, TICKER_INTERVAL_MS);
  if (intervalMs === 0) break;
  const intervalNs = BigInt(intervalMs) * NS_PER_MS;
  const waitMs = Number(intervalNs - (clock.nowNs() % intervalNs)) / 1e6;
  if (Atomics.wait(shared, TICKER_INTERVAL_MS, intervalMs, waitMs) !== 'timed-out') continue;
  if (Atomics.compareExchange(shared, TICKER_POSTED, 0, 1) === 0) parentPort!.postMessage(undefined);
}
