import type { LogPosition } from '../bus.js';

/** The kept bytes of each hash. Two records with the same 128 bits are not a fault of a disk. */
const HASH_BYTES = 16;
/** The number of hashes before the column first grows. */
const HASHES_MIN = 4_096;
/** The largest number of hashes: 16 MiB. The hashes of the oldest records are dropped first. */
export const HASHES_MAX = 1_048_576;

/** The hashes of the newest applied records, by sequence. A record that was skipped has none. */
export class RecordHashes {
  readonly #max: number;
  /** A ring: the hash of a record is at its sequence modulo the capacity. A hash of zeros is unknown. */
  #bytes: Buffer;
  #first = 1;
  #next = 1;

  constructor(max = HASHES_MAX) {
    this.#max = max;
    this.#bytes = Buffer.alloc(HASH_BYTES * Math.min(HASHES_MIN, max));
  }

  /** The sequence of the oldest record that may have a hash. */
  get first(): number {
    return this.#first;
  }

  /** The sequence of the newest record that has a hash; `first - 1` when no record has one. */
  get last(): number {
    return this.#next - 1;
  }

  /** Adds the next applied record. Records that were skipped before it have no hash. */
  add({ sequence, id }: LogPosition): void {
    const isEmpty = this.#next === this.#first;
    if (isEmpty || sequence < this.#next || sequence - this.#next >= this.#max)
      this.#first = this.#next = sequence;
    while (sequence - this.#first >= this.#capacity && this.#capacity < this.#max) this.#grow();
    for (; this.#next < sequence; this.#next++) this.#at(this.#next).fill(0);
    this.#at(sequence).set(hashOf(id));
    this.#next = sequence + 1;
    this.#first = Math.max(this.#first, this.#next - this.#capacity);
  }

  /** Returns whether a record has this ID; `undefined` when its hash is unknown. */
  isId(sequence: number, id: string): boolean | undefined {
    if (!this.has(sequence)) return undefined;
    return this.#at(sequence).equals(hashOf(id));
  }

  has(sequence: number): boolean {
    if (sequence < this.#first || sequence >= this.#next) return false;
    return this.#at(sequence).some((byte) => byte !== 0);
  }

  get #capacity(): number {
    return this.#bytes.length / HASH_BYTES;
  }

  #at(sequence: number): Buffer {
    const start = HASH_BYTES * (sequence % this.#capacity);
    return this.#bytes.subarray(start, start + HASH_BYTES);
  }

  #grow(): void {
    const kept = Array.from({ length: this.#next - this.#first }, (_, i) => this.#at(this.#first + i));
    this.#bytes = Buffer.alloc(HASH_BYTES * Math.min(2 * this.#capacity, this.#max));
    for (const [i, hash] of kept.entries()) this.#at(this.#first + i).set(hash);
  }
}

function hashOf(id: string): Buffer {
  return Buffer.from(id.slice(0, 2 * HASH_BYTES), 'hex');
}
