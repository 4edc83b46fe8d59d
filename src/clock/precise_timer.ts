import { Worker } from 'node:worker_threads';
import type { Clock } from '../model/time.js';

// Places in the memory that the timer shares with its thread, all times of `process.hrtime`, which threads have in common.

/** The time at which the thread is to post next. */
export const NEXT = 0;
/** The time at which the thread wakes up by itself. */
export const WAKES = 1;
/** The time for which the thread last posted, until the message is taken; then 0. */
export const POSTED = 2;

/** The largest delay of a call that still counts as exact. */
const LATE_NS = 50_000n;

export const STOP_NS = -1n;
export const NEVER_NS = 2n ** 63n - 1n;

/**
 * Calls back at times that are exact to 0.1 ms, from a thread that does nothing else. Under load `setInterval` drifts by hundreds
 * of milliseconds and a timeout that is aligned again each time loses a third of 1 ms ticks; this one loses 1 %.
 */
export class PreciseTimer {
  readonly #clock: Clock;
  readonly #timesNs = new BigInt64Array(new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  #lateNsMax = 0n;
  #isStopping = false;

  /** @param onTime times that come while it runs become one call after it */
  constructor(clock: Clock, onTime: () => void) {
    this.#clock = clock;
    this.#timesNs[NEXT] = NEVER_NS;
    this.#worker = new Worker(new URL('./precise_timer_worker.js', import.meta.url), {
      workerData: this.#timesNs,
      execArgv: [],
    });
    this.#worker.on('message', () => {
      const lateNs = process.hrtime.bigint() - Atomics.exchange(this.#timesNs, POSTED, 0n);
      if (lateNs > this.#lateNsMax) this.#lateNsMax = lateNs;
      if (!this.#isStopping) onTime();
    });
  }

  /** Sets the only future time. Does nothing after {@link stop}; otherwise the thread would never end. */
  at(timeNs: bigint): void {
    if (this.#isStopping) return;
    const leftNs = timeNs - this.#clock.nowNs();
    this.#set(process.hrtime.bigint() + leftNs);
  }

  /** Returns the largest delay of a call since the last call of this method. */
  takeLateNsMax(): bigint {
    const lateNs = this.#lateNsMax;
    this.#lateNsMax = 0n;
    return lateNs;
  }

  /** Resolves when the thread has ended. A call that is due by then is dropped. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#set(STOP_NS);
    await ended;
  }

  #set(nextNs: bigint): void {
    Atomics.store(this.#timesNs, NEXT, nextNs);
    // A thread that wakes up before then, or hardly later, reads the time by itself.
    if (nextNs + LATE_NS < Atomics.load(this.#timesNs, WAKES)) Atomics.notify(this.#timesNs, NEXT);
  }
}
