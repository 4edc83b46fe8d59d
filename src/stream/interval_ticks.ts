import { earlierOf, millisecondOf, NS_PER_MS, type TimeNs } from '../model/time.js';

/** Counts the wall-clock multiples of the intervals that have connections. */
export class IntervalTicks {
  /** The number of the last multiple, by interval in ms. */
  readonly #last = new Map<number, number>();

  /** Starts to count an interval from its next multiple. Has no effect when the interval is already counted. */
  start(intervalMs: number, nowNs: TimeNs): void {
    if (!this.#last.has(intervalMs)) this.#last.set(intervalMs, multipleAt(intervalMs, nowNs));
  }

  /** Stops counting the intervals that are not in `intervals`. */
  keepOnly(intervals: { has(intervalMs: number): boolean }): void {
    for (const intervalMs of this.#last.keys()) if (!intervals.has(intervalMs)) this.#last.delete(intervalMs);
  }

  /** The next multiple of any counted interval. */
  get nextNs(): bigint | undefined {
    let nextNs: bigint | undefined;
    for (const [intervalMs, last] of this.#last)
      nextNs = earlierOf(nextNs, BigInt((last + 1) * intervalMs) * NS_PER_MS);
    return nextNs;
  }

  /** Returns the number of multiples since the last call. A step back of the clock restarts the count. */
  since(intervalMs: number, nowNs: TimeNs): number {
    const multiple = multipleAt(intervalMs, nowNs);
    const last = this.#last.get(intervalMs)!;
    this.#last.set(intervalMs, multiple);
    return Math.max(0, multiple - last);
  }
}

function multipleAt(intervalMs: number, nowNs: TimeNs): number {
  return Math.floor(millisecondOf(nowNs) / intervalMs);
}
