import { Worker } from 'node:worker_threads';
import type { Clock } from '../model/time.js';

// Places in the memory that the timer shares with its thread. All values are times of `process.hrtime`, which is the same on all
// threads.

/** The time at which the thread must post the next message. */
export const NEXT = 0;
/** The time at which the thread wakes up without a notification; 0 until the thread runs. */
export const WAKES = 1;
/** The time of the message that the thread posted last; 0 after the message was received. */
export const POSTED = 2;

/** The largest delay of a call that counts as exact. */
const LATE_NS = 50_000n;
/**
 * The largest delay of a rough call that is not reported as a delay of the event loop. Node's timeouts have millisecond
 * precision.
 */
const ROUGH_LATE_NS = 2_000_000n;

export const STOP_NS = -1n;
export const NEVER_NS = 2n ** 63n - 1n;

/**
 * Calls back at times that are exact to 0.1 ms, from a thread that does nothing else. Under load, `setInterval` drifts by hundreds
 * of milliseconds. With an interval of 1 ms, a timeout that is realigned after each call misses a third of the ticks; this timer
 * misses 1 %.
 */
export class PreciseTimer {
  readonly #clock: Clock;
  readonly #timesNs = new BigInt64Array(new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  readonly #onTime: () => void;
  #lateNsMax = 0n;
  /** The time of the last call. */
  #calledNs = 0n;
  #isStopping = false;
  /** The timeout of a rough call, or of a call before the thread runs. */
  #rough: NodeJS.Timeout | undefined;

  /** @param onTime called at each set time; times that pass during a call cause one further call */
  constructor(clock: Clock, onTime: () => void) {
    this.#clock = clock;
    this.#onTime = onTime;
    this.#timesNs[NEXT] = NEVER_NS;
    const file = new URL('./precise_timer_worker.js', import.meta.url);
    this.#worker = new Worker(file, { workerData: this.#timesNs, execArgv: [] });
    this.#worker.on('message', () => {
      const dueNs = Atomics.exchange(this.#timesNs, POSTED, 0n);
      // Until the message was received, the thread posted no later time.
      const isLaterDue = Atomics.load(this.#timesNs, NEXT) <= process.hrtime.bigint();
      if (dueNs !== this.#calledNs || isLaterDue) this.#call(dueNs);
    });
  }

  /**
   * Sets the next time, and replaces the earlier next time. Does nothing after {@link stop}, because a new time would keep the thread
   * from ending.
   */
  at(timeNs: bigint): void {
    if (this.#isStopping) return;
    this.#endRough();
    const leftNs = timeNs - this.#clock.nowNs();
    const dueNs = process.hrtime.bigint() + leftNs;
    this.#set(dueNs);
    // The thread takes 50 to 150 ms to start, and the first readers of a service would wait for it.
    if (Atomics.load(this.#timesNs, WAKES) === 0n)
      this.#callAfter(leftNs, () => this.#callWithoutThread(dueNs));
  }

  /**
   * Sets the next time like {@link at}, with a timeout of this thread. Waking up the other thread too would double the cost. The
   * other thread, not the timeout, keeps this thread alive.
   */
  roughlyAt(timeNs: bigint): void {
    if (this.#isStopping) return;
    this.#endRough();
    if (Atomics.load(this.#timesNs, NEXT) > process.hrtime.bigint()) this.#set(NEVER_NS);
    const leftNs = timeNs - this.#clock.nowNs();
    const dueNs = process.hrtime.bigint() + leftNs + ROUGH_LATE_NS;
    this.#callAfter(leftNs, () => this.#call(dueNs));
  }

  /** Returns the largest delay of a call since the last call of this method. */
  takeLateNsMax(): bigint {
    const lateNs = this.#lateNsMax;
    this.#lateNsMax = 0n;
    return lateNs;
  }

  /** Resolves when the thread has ended. Drops a call that is due before the end of the thread. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#endRough();
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#set(STOP_NS);
    await ended;
  }

  #call(dueNs: bigint): void {
    this.#calledNs = dueNs;
    const lateNs = process.hrtime.bigint() - dueNs;
    if (lateNs > this.#lateNsMax) this.#lateNsMax = lateNs;
    if (!this.#isStopping) this.#onTime();
  }

  /** Calls for a time that was set before the thread ran. The thread may have started since then, and may call first. */
  #callWithoutThread(dueNs: bigint): void {
    const leftNs = dueNs - process.hrtime.bigint();
    if (leftNs > 0n) this.#callAfter(leftNs, () => this.#callWithoutThread(dueNs));
    else if (dueNs !== this.#calledNs) {
      Atomics.compareExchange(this.#timesNs, NEXT, dueNs, NEVER_NS);
      this.#call(dueNs);
    }
  }

  #callAfter(leftNs: bigint, call: () => void): void {
    // Node drops the fraction of a timeout, which would call up to 1 ms too early.
    this.#rough = setTimeout(call, Math.ceil(Number(leftNs) / 1e6)).unref();
  }

  #endRough(): void {
    clearTimeout(this.#rough);
  }

  #set(nextNs: bigint): void {
    Atomics.store(this.#timesNs, NEXT, nextNs);
    // A thread that wakes up before that time, or at most 50 µs later, reads the time without a notification.
    if (nextNs + LATE_NS < Atomics.load(this.#timesNs, WAKES)) Atomics.notify(this.#timesNs, NEXT);
  }
}
