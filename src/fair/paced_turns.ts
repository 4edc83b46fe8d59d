/** The rest after a piece of work, as a multiple of the piece's time. So paced work takes at most a third of a thread. */
const REST_FACTOR = 2;

/**
 * Does asynchronous work of many callers, one piece at a time, with a rest after each piece. Callers take turns, so a caller with much
 * work delays the others by one piece.
 */
export class PacedTurns {
  /** The waiting work of each caller. The caller with the next turn comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #nowMs: () => number;
  readonly #after: (callback: () => void, ms: number) => unknown;
  #isBusy = false;

  /** @param after calls back after a time; for example `setTimeout` */
  constructor(nowMs: () => number, after: (callback: () => void, ms: number) => unknown) {
    this.#nowMs = nowMs;
    this.#after = after;
  }

  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#wait(caller);
    this.#isBusy = true;
    const startMs = this.#nowMs();
    try {
      return await work();
    } finally {
      this.#after(() => this.#next(), REST_FACTOR * (this.#nowMs() - startMs));
    }
  }

  #wait(caller: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(caller);
      if (queue === undefined) this.#waiting.set(caller, [resolve]);
      else queue.push(resolve);
    });
  }

  #next(): void {
    const [caller, queue] = this.#waiting.entries().next().value ?? [];
    if (caller === undefined || queue === undefined) {
      this.#isBusy = false;
      return;
    }
    const start = queue.shift()!;
    this.#waiting.delete(caller);
    if (queue.length > 0) this.#waiting.set(caller, queue);
    start();
  }
}
