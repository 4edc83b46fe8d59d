import { HASH_BYTES } from '../tlog/tree_hash.js';

/** A received signed price. */
export interface AuditedPrice {
  /** The record of this price that the log must contain. */
  readonly record: Uint8Array;
  readonly timeNs: bigint;
  /** The JSON of the aggregate. */
  readonly text: string;
}

/** The largest number of prices in memory. They are compared with the log and with later prices of the same place. */
const PRICES_MAX = 100_000;

/** The signed prices that an audit has received, without repetitions. Above the limit, the set drops the oldest prices. */
export class ReceivedPrices {
  readonly #byPlace = new Map<string, AuditedPrice>();
  readonly #open = new Set<string>();
  #found = 0;

  /** The number of prices that were found in the log. */
  get found(): number {
    return this.#found;
  }

  /** Records a price. @returns the text of another price of the same signer, asset and time, if any */
  add(record: Uint8Array, timeNs: bigint, text: string): string | undefined {
    const place = placeOf(record);
    const known = this.#byPlace.get(place);
    if (known !== undefined) return Buffer.compare(known.record, record) === 0 ? undefined : known.text;
    if (this.#byPlace.size >= PRICES_MAX) this.#forget();
    this.#byPlace.set(place, { record, timeNs, text });
    this.#open.add(place);
    return undefined;
  }

  /** Returns the prices that the audit has not found in the log yet. */
  open(): AuditedPrice[] {
    return [...this.#open].map((place) => this.#byPlace.get(place)!);
  }

  /** Records that the log has a price. */
  settle(record: Uint8Array): void {
    if (this.#open.delete(placeOf(record))) this.#found += 1;
  }

  /** Removes a price that is not signed. */
  drop(record: Uint8Array): void {
    this.#byPlace.delete(placeOf(record));
    this.#open.delete(placeOf(record));
  }

  #forget(): void {
    const [oldest = ''] = this.#byPlace.keys();
    this.#byPlace.delete(oldest);
    this.#open.delete(oldest);
  }
}

/** Returns the part of a record that determines its place. This part contains all fields except the hash of the message. */
function placeOf(record: Uint8Array): string {
  return Buffer.from(record.subarray(0, record.length - HASH_BYTES)).toString('latin1');
}
