import { Worker } from 'node:worker_threads';

/** Places in the memory that the ticker shares with its thread. */
export const TICKER_INTERVAL_MS = 0;
export const TICKER_POSTED = 1;

/**
 * Ticks at wall-clock multiples of an interval, from a thread that does nothing else. Under load `setInterval` drifts by
 * hundreds of milliseconds and a timeout that is aligned anew loses a third of 1 ms ticks; this one loses 1 %. The tick
 * comes through shared memory, which takes half of the CPU time of a message to this thread.
 */
export class Ticker {
  readonly #shared = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #worker: Worker;
  readonly #onTick: () => void;
  #stopping = false;

  /** @param onTick called at most once at a time: ticks that come while it runs are one tick after it. */
  constructor(intervalMs: number, onTick: () => void) {
    this.#onTick = onTick;
    this.#shared[TICKER_INTERVAL_MS] = intervalMs;
    this.#worker = new Worker(new URL('./ticker_worker.js', import.meta.url), {
      workerData: this.#shared,
      execArgv: [],
    });
    this.#wait();
  }

  /** Takes effect at once; after {@link stop} it has none, or the thread would go on for ever. */
  setInterval(intervalMs: number): void {
    if (this.#stopping) return;
    if (Atomics.exchange(this.#shared, TICKER_INTERVAL_MS, intervalMs) !== intervalMs)
      Atomics.notify(this.#shared, TICKER_INTERVAL_MS);
  }

  /** Resolves when the thread has ended. A tick that was on its way is dropped. */
  async stop(): Promise<void> {
    this.setInterval(0);
    this.#stopping = true;
    await new Promise((resolve) => this.#worker.once('exit', resolve));
  }

  #wait(): void {
    const posted = Atomics.waitAsync(this.#shared, TICKER_POSTED, 0);
    if (posted.async) void posted.value.then(() => this.#tick());
    // It came during the last one. What else this thread has to do has its turn first.
    else setImmediate(() => this.#tick());
  }

  #tick(): void {
    if (this.#stopping) return;
    Atomics.store(this.#shared, TICKER_POSTED, 0);
    this.#onTick();
    this.#wait();
  }
}
