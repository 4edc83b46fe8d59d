import { median } from '../../load/statistics.js';

/** The kinds of data whose absence the check measures: frames, newer aggregates over REST, and answers to a publisher. */
export type Signal = 'stream' | 'rest' | 'ack';
export const SIGNALS: readonly Signal[] = ['stream', 'rest', 'ack'];

/** The longest silences of a step in each round, in milliseconds. */
export type Silences = Readonly<Record<Signal, readonly number[]>>;

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

/** Returns the table of silences for the page about clusters: the median and the worst of each step, in seconds. */
export function silenceTable(steps: ReadonlyMap<string, Silences>): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const rows = [...steps].map(([name, found]) => {
    const silences = SIGNALS.map(
      (signal) => `${seconds(median(found[signal]))} · ${seconds(Math.max(...found[signal]))} s`,
    );
    return `| ${[name, found.stream.length, ...silences].join(' | ')} |`;
  });
  return [
    '| Fault; median · worst | Rounds | Streams silent | REST silent | Durable acknowledgements silent |',
    '|---|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}
