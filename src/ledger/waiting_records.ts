import { isEqual } from '../tlog/log_text.js';
import { nodeSha256 } from '../tlog/node_sha256.js';
import { recordTimeNs } from '../tlog/price_record.js';
import { leafHash } from '../tlog/tree_hash.js';

/** A record with the hash of its leaf. */
export interface HashedRecord {
  readonly record: Uint8Array;
  readonly leaf: Uint8Array;
  readonly timeNs: bigint;
}

export function hashRecord(record: Uint8Array): HashedRecord {
  return { record, leaf: leafHash(record, nodeSha256), timeNs: recordTimeNs(record) };
}

/** The bytes before the time: type, signer and symbol. */
const SERIES_BYTES = 65;
/** The largest number of records that wait for their batch: 30 s at 10,000 prices per second. */
export const WAITING_RECORDS_MAX = 300_000;

/**
 * The records that are in no batch yet, in the order of their batch. They form groups by type, signer and symbol. Each group grows in the
 * order of time, so making a batch sorts only the groups.
 */
export class WaitingRecords {
  readonly #series = new Map<string, HashedRecord[]>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * Adds a record.
   * @returns `known` for a repeated record, `other` when another record has the same place, `full` when too many records wait
   */
  add(record: Uint8Array): 'added' | 'known' | 'other' | 'full' {
    const key = Buffer.prototype.latin1Slice.call(record, 0, SERIES_BYTES);
    const series = this.#series.get(key) ?? [];
    const timeNs = recordTimeNs(record);
    let at = series.length;
    while (at > 0 && series[at - 1]!.timeNs > timeNs) at -= 1;
    const before = series[at - 1];
    if (before?.timeNs === timeNs) return isEqual(before.record, record) ? 'known' : 'other';
    if (this.#count >= WAITING_RECORDS_MAX) return 'full';
    series.splice(at, 0, hashRecord(record));
    this.#series.set(key, series);
    this.#count += 1;
    return 'added';
  }

  /** Returns the records of a period, in the order of a batch. */
  between(fromNs: bigint, toNs: bigint): HashedRecord[] {
    const records: HashedRecord[] = [];
    for (const key of [...this.#series.keys()].sort(compareKeys))
      for (const one of this.#series.get(key)!)
        if (one.timeNs >= fromNs && one.timeNs < toNs) records.push(one);
    return records;
  }

  /** Removes all records before a time. */
  removeBefore(toNs: bigint): void {
    for (const [key, series] of this.#series) {
      const left = series.filter(({ timeNs }) => timeNs >= toNs);
      this.#count -= series.length - left.length;
      if (left.length === 0) this.#series.delete(key);
      else this.#series.set(key, left);
    }
  }

  /** Returns all records, in any order. */
  all(): Uint8Array[] {
    return [...this.#series.values()].flat().map(({ record }) => record);
  }
}

function compareKeys(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
