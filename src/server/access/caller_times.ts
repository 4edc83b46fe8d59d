import { createHmac, randomBytes } from 'node:crypto';

/** The memory of {@link CallerTimes}, which threads share. */
export interface CallerTimesMemory {
  readonly words: SharedArrayBuffer;
  /**
   * The secret that decides the places of callers in the memory. Without the secret, nobody can choose names that share a place.
   */
  readonly secret: Uint8Array;
}

/** The number of callers in a bucket. */
const WAYS = 8;
/** The number of words for each caller: the hash of the caller's name, and the caller's time. */
const WORDS_PER_CALLER = 2;
/** The largest number of callers in the table. The table may forget an idle caller, because an idle caller has its whole allowance. */
const CALLERS_MAX = 131_072;
const BUCKETS = CALLERS_MAX / WAYS;
/** The number of names whose hash a thread remembers. Hashing a name takes 20 % of the time of a request. */
const HASHES_MAX = 10_000;

export function createCallerTimes(): CallerTimesMemory {
  const bytes = CALLERS_MAX * WORDS_PER_CALLER * BigInt64Array.BYTES_PER_ELEMENT;
  return { words: new SharedArrayBuffer(bytes), secret: randomBytes(32) };
}

/**
 * The end of each caller's busy time, in memory that threads share. If a bucket is full, the table forgets the caller whose busy time ends
 * first.
 */
export class CallerTimes {
  readonly #words: BigInt64Array;
  readonly #secret: Uint8Array;
  readonly #names = new Map<string, HashedName>();

  constructor({ words, secret }: CallerTimesMemory = createCallerTimes()) {
    this.#words = new BigInt64Array(words);
    this.#secret = secret;
  }

  /** Returns the end of the caller's busy time; 0 if the caller is unknown. */
  read(caller: string): bigint {
    const place = this.#findPlace(this.#hashedName(caller));
    return place === undefined ? 0n : Atomics.load(this.#words, place + 1);
  }

  /**
   * Changes the time of a caller atomically, even while other threads change it.
   * @param next returns the new time, from the current time
   */
  update(caller: string, next: (beforeNs: bigint) => bigint): void {
    for (;;) {
      const place = this.placeOf(caller);
      const beforeNs = this.at(place);
      if (this.replace(place, beforeNs, next(beforeNs))) return;
    }
  }

  /** Returns the place of a caller's time, for {@link at} and {@link replace}. Another caller may take the place over at any time. */
  placeOf(caller: string): number {
    const name = this.#hashedName(caller);
    for (;;) {
      const place = this.#findPlace(name) ?? this.#addPlace(name);
      if (place !== undefined) return place;
    }
  }

  at(place: number): bigint {
    return Atomics.load(this.#words, place + 1);
  }

  /** @returns false if another thread has changed the time since `beforeNs` was read; nothing is changed then */
  replace(place: number, beforeNs: bigint, nextNs: bigint): boolean {
    return Atomics.compareExchange(this.#words, place + 1, beforeNs, nextNs) === beforeNs;
  }

  #findPlace({ hash, first }: HashedName): number | undefined {
    for (let way = 0; way < WAYS; way++) {
      const place = first + way * WORDS_PER_CALLER;
      if (Atomics.load(this.#words, place) === hash) return place;
    }
    return undefined;
  }

  /** @returns `undefined` if another thread has changed the entry first; the caller must then try again */
  #addPlace(name: HashedName): number | undefined {
    const { hash, first } = name;
    let free = first;
    for (let way = 1; way < WAYS; way++) {
      const place = first + way * WORDS_PER_CALLER;
      if (Atomics.load(this.#words, place + 1) < Atomics.load(this.#words, free + 1)) free = place;
    }
    const forgotten = Atomics.load(this.#words, free);
    // Another thread has already added the caller.
    if (forgotten === hash) return free;
    const forgottenNs = Atomics.load(this.#words, free + 1);
    if (Atomics.compareExchange(this.#words, free, forgotten, hash) !== forgotten) return undefined;
    // Another thread has already found the caller here, and has changed its time.
    Atomics.compareExchange(this.#words, free + 1, forgottenNs, 0n);
    return this.#findPlace(name);
  }

  #hashedName(caller: string): HashedName {
    let name = this.#names.get(caller);
    if (name === undefined) {
      const hash = createHmac('sha256', this.#secret).update(caller).digest().readBigInt64LE();
      name = { hash, first: bucketOf(hash) };
      if (this.#names.size >= HASHES_MAX) this.#names.clear();
      this.#names.set(caller, name);
    }
    return name;
  }
}

interface HashedName {
  readonly hash: bigint;
  /** The index of the first word of the name's bucket. */
  readonly first: number;
}

function bucketOf(hash: bigint): number {
  return Number(BigInt.asUintN(32, hash) % BigInt(BUCKETS)) * WAYS * WORDS_PER_CALLER;
}
