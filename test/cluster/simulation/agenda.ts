/** The number of turns of the microtask queue after an event. No chain of promises in a node is longer. */
const MICROTASK_TURNS = 6;

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/**
 * Events on a simulated clock, which advances only from event to event. The heap orders events by time, and events of equal times
 * by their entry.
 */
export class Agenda {
  readonly #heap: Entry[] = [];
  #order = 0;
  #nowMs = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, run: () => void): void {
    const heap = this.#heap;
    const entry = { atMs: Math.max(atMs, this.#nowMs), order: this.#order++, run };
    let place = heap.push(entry) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(entry, heap[parent]!)) break;
      heap[place] = heap[parent]!;
      place = parent;
    }
    heap[place] = entry;
  }

  after(delayMs: number, run: () => void): void {
    this.at(this.#nowMs + delayMs, run);
  }

  /** Runs all events up to this time, and the promises that each event settles. */
  async runUntil(untilMs: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= untilMs; next = this.#heap[0]) {
      this.#removeFirst();
      this.#nowMs = next.atMs;
      next.run();
      for (let turn = 0; turn < MICROTASK_TURNS; turn++) await undefined;
    }
    this.#nowMs = untilMs;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[place] = heap[child]!;
      place = child;
    }
    heap[place] = last;
  }
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.atMs === other.atMs ? one.order < other.order : one.atMs < other.atMs;
}
