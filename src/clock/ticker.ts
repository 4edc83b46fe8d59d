import { Worker } from 'node:worker_threads';

/** Indexes in the memory that the ticker shares with its thread. */
export const TICKER_INTERVAL_MS = 0;
export const TICKER_POSTED = 1;

/**
 * Ticks at wall-clock multiples of an interval, from a thread that does nothing else. Under load `setInterval` drifts by
 * hundreds of milliseconds and a timeout that is aligned anew loses a third of 1 ms ticks; this one loses 1 %.
 */
export class Ticker {
  readonly #shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  #stopping = false;

  /** @param onTick ticks that come while it runs become one tick after it */
  constructor(intervalMs: number, onTick: () => void) {
    this.#shared[TICKER_INTERVAL_MS] = intervalMs;
    this.#worker = new Worker(new URL('./ticker_worker.js', import.meta.url), {
      workerData: this.#shared,
      execArgv: [],
    });
    this.#worker.on('message', () => {
      Atomics.store(this.#shared, TICKER_POSTED, 0);
      if (!this.#stopping) onTick();
    });
  }

  /** Changes the interval at once. After {@link stop} it does nothing, or the thread would never end. */
  setInterval(intervalMs: number): void {
    if (this.#stopping) return;
    if (Atomics.exchange(this.#shared, TICKER_INTERVAL_MS, intervalMs) !== intervalMs)
      Atomics.notify(this.#shared, TICKER_INTERVAL_MS);
  }

  /** Resolves when the thread has ended. A tick that was already posted is dropped. */
  async stop(): Promise<void> {
    this.setInterval(0);
    this.#stopping = true;
    await new Promise((resolve) => this.#worker.once('exit', resolve));
  }
}
