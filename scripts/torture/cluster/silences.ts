/** The kinds of data whose absence the check measures: frames, newer aggregates over REST, and answers to a publisher. */
export type Signal = 'stream' | 'rest' | 'ack';
export const SIGNALS: readonly Signal[] = ['stream', 'rest', 'ack'];

/** The times at which one client received new data, in milliseconds of `performance.now()`. */
export class Track {
  readonly signal: Signal;
  readonly #timesMs: number[] = [];

  constructor(signal: Signal) {
    this.signal = signal;
  }

  note(): void {
    this.#timesMs.push(performance.now());
  }

  get lastMs(): number {
    return this.#timesMs.at(-1) ?? 0;
  }

  /** Returns the longest silence that ended after `sinceMs`, including the current silence. */
  longestMs(sinceMs: number): number {
    let longest = 0;
    let after = performance.now();
    for (let i = this.#timesMs.length - 1; i >= 0 && after > sinceMs; i--) {
      longest = Math.max(longest, after - this.#timesMs[i]!);
      after = this.#timesMs[i]!;
    }
    return longest;
  }
}
