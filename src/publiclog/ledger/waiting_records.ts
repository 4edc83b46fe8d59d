import { compareText } from '../../model/compare_text.js';
import { isEqual } from '../../tlog/log_text.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import { leafHash } from '../../tlog/tree_hash.js';
import type { RecordForm } from './record_form.js';

/** A record with the hash of its leaf. */
export interface HashedRecord {
  readonly record: Uint8Array;
  /** The bytes of the record in its batch. */
  readonly inBatch: Uint8Array;
  readonly leaf: Uint8Array;
  readonly timeNs: bigint;
}

/** The largest number of records that wait for their batch: 30 s at 10,000 prices per second. */
export const WAITING_RECORDS_MAX = 300_000;

/**
 * The records that are in no batch yet, in the order of their batch. They form series by the bytes before their time: type, signer and
 * symbol of a price. Each series grows in the order of time, so making a batch sorts only the series.
 */
export class WaitingRecords {
  readonly #series = new Map<string, HashedRecord[]>();
  readonly #form: RecordForm;
  #count = 0;

  constructor(form: RecordForm) {
    this.#form = form;
  }

  get count(): number {
    return this.#count;
  }

  timeOf(record: Uint8Array): bigint {
    return new DataView(record.buffer, record.byteOffset).getBigUint64(this.#form.timeAt);
  }

  hash(record: Uint8Array, timeNs = this.timeOf(record)): HashedRecord {
    const { batchBytes } = this.#form;
    // A second view of each record would cost as much as its place in the series.
    const inBatch = batchBytes === record.length ? record : record.subarray(0, batchBytes);
    return { record, inBatch, leaf: leafHash(inBatch, nodeSha256), timeNs };
  }

  /**
   * Adds a record.
   * @param timeNs the time of the record
   * @returns `known` for a repeated record, `other` when another record has the same place, `full` when too many records wait
   */
  add(record: Uint8Array, timeNs = this.timeOf(record)): 'added' | 'known' | 'other' | 'full' {
    const key = Buffer.prototype.latin1Slice.call(record, 0, this.#form.timeAt);
    const series = this.#series.get(key) ?? [];
    let at = series.length;
    while (at > 0 && series[at - 1]!.timeNs > timeNs) at -= 1;
    const before = series[at - 1];
    if (before?.timeNs === timeNs) return isEqual(before.record, record) ? 'known' : 'other';
    if (this.#count >= WAITING_RECORDS_MAX) return 'full';
    const hashed = this.hash(record, timeNs);
    if (at === series.length) series.push(hashed);
    else series.splice(at, 0, hashed);
    if (series.length === 1) this.#series.set(key, series);
    this.#count += 1;
    return 'added';
  }

  /** Returns the records of a period, in the order of a batch. No two records have the same bytes in the batch. */
  between(fromNs: bigint, toNs: bigint): HashedRecord[] {
    const isTimeInBatch = this.#form.batchBytes > this.#form.timeAt;
    const records: HashedRecord[] = [];
    for (const key of [...this.#series.keys()].sort(compareText))
      for (const one of this.#series.get(key)!) {
        if (one.timeNs < fromNs || one.timeNs >= toNs) continue;
        records.push(one);
        if (!isTimeInBatch) break;
      }
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
