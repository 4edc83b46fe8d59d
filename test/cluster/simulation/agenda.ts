/** The number of turns of the microtask queue after an event. No chain of promises in a node is longer. */
const MICROTASK_TURNS = 6;

interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

/** Events on a simulated clock, which advances only from event to event. Events of equal times keep the order in which they were added. */
export class Agenda {
  /** The events in descending order, so that the next event is the last. */
  readonly #events: Event[] = [];
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, run: () => void): void {
    const event = { atMs: Math.max(atMs, this.#nowMs), run };
    this.#events.splice(this.#placeOf(event.atMs), 0, event);
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.#nowMs + delayMs, run);
  }

  /** Runs all events up to this time, and the promises that each event settles. */
  async runUntil(untilMs: number): Promise<void> {
    for (
      let next = this.#events.at(-1);
      next !== undefined && next.atMs <= untilMs;
      next = this.#events.at(-1)
    ) {
      this.#events.pop();
      this.#nowMs = next.atMs;
      next.run();
      for (let turn = 0; turn < MICROTASK_TURNS; turn++) await undefined;
    }
    this.#nowMs = untilMs;
  }

  /** Returns the place of a new event: before all events of its time and of earlier times. */
  #placeOf(atMs: number): number {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.atMs > atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
