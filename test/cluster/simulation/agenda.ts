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
    const later = this.#events.findLastIndex((other) => other.atMs > event.atMs);
    this.#events.splice(later + 1, 0, event);
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
}
