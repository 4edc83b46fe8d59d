/** The rest after a piece of work, as a multiple of the piece's time. So paced work takes at most a third of a thread. */
const REST_FACTOR = 2;

/** The shortest rest: timers have no shorter interval. Shorter rests add up until they reach this time. */
const REST_MS_MIN = 1;

/**
 * Does asynchronous work of many callers, one piece at a time, with a rest after the pieces. Callers take turns, so a caller with much
 * work delays the others by one piece.
 */
export class PacedTurns {
  /** The waiting work of each caller. The caller with the next turn comes first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #workedMs: () => number;
  readonly #after: (callback: () => void, ms: number) => unknown;
  #isBusy = false;
  /** The rest, in ms, that the pieces since the last rest need. */
  #owedMs = 0;

  /**
   * @param workedMs returns the time that this thread has worked, in ms
   * @param after calls back after a time in ms; with 0, after the current turn of the event loop
   */
  constructor(workedMs: () => number, after: (callback: () => void, ms: number) => unknown) {
    this.#workedMs = workedMs;
    this.#after = after;
  }

  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#waitForTurn(caller);
    this.#isBusy = true;
    const startMs = this.#workedMs();
    try {
      return await work();
    } finally {
      this.#owedMs += REST_FACTOR * (this.#workedMs() - startMs);
      const restMs = this.#owedMs < REST_MS_MIN ? 0 : this.#owedMs;
      this.#owedMs -= restMs;
      this.#after(() => this.#startNext(), restMs);
    }
  }

  #waitForTurn(caller: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(caller);
      if (queue === undefined) this.#waiting.set(caller, [resolve]);
      else queue.push(resolve);
    });
  }

  #startNext(): void {
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
