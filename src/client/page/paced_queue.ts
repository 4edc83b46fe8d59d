import { pause } from './pause.js';

/** Runs that wait for their turn; one more is refused. */
const WAITING_MAX = 50;

interface Waiting {
  readonly name: string | undefined;
  readonly run: () => Promise<void>;
  readonly refuse: (reason: string) => void;
}

/** Runs one thing after the other, with a pause after each. */
export class PacedQueue {
  readonly #intervalMs: number;
  readonly #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** @param name one that waits under the same name is refused, because nobody wants its result any more */
  run<T>(task: () => Promise<T>, name?: string): Promise<T> {
    const before = this.#waiting.findIndex((one) => name !== undefined && one.name === name);
    if (before !== -1) this.#waiting.splice(before, 1)[0]!.refuse('a newer request took its place');
    return new Promise((resolve, reject) => {
      const refuse = (reason: string) => reject(new Error(reason));
      if (this.#waiting.length >= WAITING_MAX) {
        refuse('too many requests are waiting');
        return;
      }
      this.#waiting.push({ name, run: () => task().then(resolve, reject), refuse });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      await next.run();
      await pause(this.#intervalMs);
    }
    this.#isRunning = false;
  }
}
