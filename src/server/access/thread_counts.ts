/** Counts that threads share. Each place has a count for each thread, so that the counts of an ended thread can be subtracted. */
export class ThreadCounts {
  readonly #words: Int32Array;
  readonly #thread: number;
  readonly #threads: number;

  /** @param words the memory: the words of a place stand together, one for each thread */
  constructor(words: SharedArrayBuffer, thread: number, threads: number) {
    this.#words = new Int32Array(words);
    this.#thread = thread;
    this.#threads = threads;
  }

  /** Adds one to a place, unless the sum of all threads is already `max`. @returns true if the count was changed */
  add(place: number, max: number): boolean {
    Atomics.add(this.#words, place * this.#threads + this.#thread, 1);
    if (this.sum(place) <= max) return true;
    this.subtract(place);
    return false;
  }

  subtract(place: number): void {
    Atomics.sub(this.#words, place * this.#threads + this.#thread, 1);
  }

  /** Returns the sum of all threads. */
  sum(place: number): number {
    const first = place * this.#threads;
    let total = 0;
    for (let i = 0; i < this.#threads; i++) total += Atomics.load(this.#words, first + i);
    return total;
  }
}

/** Creates the memory of counts of `places`. */
export function threadCounts(places: number, threads: number): SharedArrayBuffer {
  return new SharedArrayBuffer(places * threads * Int32Array.BYTES_PER_ELEMENT);
}

/** Subtracts all that an ended thread counted. */
export function forgetCounts(words: SharedArrayBuffer, thread: number, threads: number): void {
  const counts = new Int32Array(words);
  for (let at = thread; at < counts.length; at += threads) Atomics.store(counts, at, 0);
}
