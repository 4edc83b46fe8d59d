import type { LineEntry } from './past_entry.js';

/** Chooses the last row of each interval. */
export class LastOfEach {
  readonly #everyNs: bigint | undefined;
  #held: LineEntry | undefined;

  /** @param everyNs the length of the intervals; if `undefined`, every row is chosen */
  constructor(everyNs: bigint | undefined) {
    this.#everyNs = everyNs;
  }

  /** Takes the next row. @returns the previous row if it was the last row of its interval */
  add(row: LineEntry): LineEntry | undefined {
    if (this.#everyNs === undefined) return row;
    const held = this.#held;
    this.#held = row;
    const isLast =
      held !== undefined && intervalOf(held.timeNs, this.#everyNs) !== intervalOf(row.timeNs, this.#everyNs);
    return isLast ? held : undefined;
  }

  /** Returns the last row of the last interval. */
  end(): LineEntry | undefined {
    return this.#held;
  }
}

/** Returns the start of the interval that contains a time; without intervals, the time itself. */
export function intervalOf(timeNs: bigint, everyNs: bigint | undefined): bigint {
  return everyNs === undefined ? timeNs : timeNs - (timeNs % everyNs);
}
