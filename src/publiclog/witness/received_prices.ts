import { HASH_BYTES } from '../../tlog/tree_hash.js';

/** A received signed price. */
export interface AuditedPrice {
  /** The record of this price that the log must contain. */
  readonly record: Uint8Array;
  readonly timeNs: bigint;
  /** The JSON of the aggregate. */
  readonly text: string;
  /** The time at which the audit received the price, on its monotonic clock. */
  readonly heardMs: number;
}

/** The largest number of prices in memory. They are compared with the log and with later prices of the same place. */
const PRICES_MAX = 100_000;

/**
 * The signed prices that an audit has received, without repetitions. Above the limit, the set drops the oldest prices that were found in
 * the log. A price that was not found yet is never dropped: while only such prices are there, the set takes no further price.
 */
export class ReceivedPrices {
  readonly #byPlace = new Map<string, AuditedPrice>();
  readonly #open = new Set<string>();
  /** The prices that the log has, the first one found first. */
  readonly #settled = new Set<string>();
  #found = 0;
  #skipped = 0;

  /** The number of prices that were found in the log. */
  get found(): number {
    return this.#found;
  }

  /** The number of prices that the set did not take. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Records a price. @returns the text of another price of the same signer, asset and time, if any */
  add(price: AuditedPrice): string | undefined {
    const { record } = price;
    const place = placeOf(record);
    const known = this.#byPlace.get(place);
    if (known !== undefined) return Buffer.compare(known.record, record) === 0 ? undefined : known.text;
    if (this.#byPlace.size >= PRICES_MAX && !this.#forgetOldest()) {
      this.#skipped += 1;
      return undefined;
    }
    this.#byPlace.set(place, price);
    this.#open.add(place);
    return undefined;
  }

  /** Returns the prices that the audit has not found in the log yet. */
  open(): AuditedPrice[] {
    return [...this.#open].map((place) => this.#byPlace.get(place)!);
  }

  /** Records that the log has a price. */
  settle(record: Uint8Array): void {
    const place = placeOf(record);
    if (!this.#open.delete(place)) return;
    this.#settled.add(place);
    this.#found += 1;
  }

  /** Removes a price that is not signed, or that the log cannot have. */
  drop(record: Uint8Array): void {
    const place = placeOf(record);
    this.#byPlace.delete(place);
    this.#open.delete(place);
    this.#settled.delete(place);
  }

  /** Drops the oldest price that was found. @returns false when there is none */
  #forgetOldest(): boolean {
    const [oldest] = this.#settled;
    if (oldest === undefined) return false;
    this.#byPlace.delete(oldest);
    return this.#settled.delete(oldest);
  }
}

/** Returns the part of a record that determines its place. This part contains all fields except the hash of the message. */
function placeOf(record: Uint8Array): string {
  return Buffer.from(record.subarray(0, record.length - HASH_BYTES)).toString('latin1');
}
