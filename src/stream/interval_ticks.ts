import { millisecondOf, type TimeNs } from '../model/time.js';

/** Counts the wall-clock multiples of the intervals that somebody listens to. */
export class IntervalTicks {
  /** By interval in ms the number of the last multiple. */
  readonly #last = new Map<number, number>();

  /** The first multiple that counts is the next one; nothing happens when it is counted already. */
  start(intervalMs: number, nowNs: TimeNs): void {
    if (!this.#last.has(intervalMs)) this.#last.set(intervalMs, multipleAt(intervalMs, nowNs));
  }

  /** Stops counting the intervals that nobody listens to any more. */
  keepOnly(intervals: { has(intervalMs: number): boolean }): void {
    for (const intervalMs of this.#last.keys()) if (!intervals.has(intervalMs)) this.#last.delete(intervalMs);
  }

  /** How many have come since they were asked for last. A clock that was stepped back starts counting anew. */
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
