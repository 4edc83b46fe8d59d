import { isEqual, toBase64 } from '../../tlog/log_text.js';
import { comparePlaces } from '../../tlog/price_record.js';
import { leafHash, rootOf, type Sha256 } from '../../tlog/tree_hash.js';
import { inclusionPath, type NodeReader } from '../../tlog/tree_nodes.js';
import type { ProvenRecord } from './evidence_file.js';

/**
 * Returns the records that show that a batch lacks a record: the record at its place, or the neighbours of its place.
 * @param records all records of the batch, in their order
 * @returns `undefined` when the batch has the record
 */
export function recordsAround(
  records: readonly Uint8Array[],
  record: Uint8Array,
  sha256?: Sha256,
): ProvenRecord[] | undefined {
  const next = records.findIndex((one) => comparePlaces(one, record) >= 0);
  const found = records[next];
  if (found !== undefined && isEqual(found, record)) return undefined;
  const isOther = found !== undefined && comparePlaces(found, record) === 0;
  const right = next < 0 ? records.length : next;
  const places = isOther ? [next] : [right - 1, right].filter((i) => i >= 0 && i < records.length);
  return places.map((i) => provenRecord(records, i, sha256));
}

/** Makes a proof that a batch contains a record. */
export function provenRecord(records: readonly Uint8Array[], index: number, sha256?: Sha256): ProvenRecord {
  const leaves = records.map((record) => leafHash(record, sha256));
  const read: NodeReader = ({ level, index: at }) => {
    const width = 2 ** level;
    return rootOf(leaves.slice(Number(at) * width, (Number(at) + 1) * width), sha256);
  };
  const path = inclusionPath(BigInt(index), BigInt(records.length), read, sha256);
  return { index: String(index), record: toBase64(records[index]!), path: path.map(toBase64) };
}
