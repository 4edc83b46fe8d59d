import { readDecimal, readText, toBase64, utf8Bytes } from './log_text.js';
import { recordTimeNs } from './price_record.js';
import { TlogError } from './tlog_error.js';
import { emptyRoot, leafHash, readHash, rootOf, type Sha256 } from './tree_hash.js';

/** An entry of the log: all prices that were signed in a period. */
export interface BatchEntry {
  /** The epoch of the leader; 0 without a cluster. */
  readonly epoch: bigint;
  /** The number of the batch, which is the index of the entry. */
  readonly batch: bigint;
  /** The start of the period, inclusive. It equals the end of the previous batch. */
  readonly fromNs: bigint;
  /** The end of the period, exclusive. */
  readonly toNs: bigint;
  readonly records: bigint;
  /** The root of the tree of the records. */
  readonly root: Uint8Array;
}

const FIRST_LINE = 'tickseal-batch/v1';
const ENTRY_LENGTH_MAX = 1024;
const FORM = new RegExp(
  `^${FIRST_LINE}\\nepoch (\\d+)\\nbatch (\\d+)\\nfrom (\\d+)\\nto (\\d+)\\nrecords (\\d+)\\nroot (\\S+)\\n$`,
);

/** Reads an entry. An entry has exactly one valid text. @throws TlogError for any other text */
export function parseBatchEntry(input: string | Uint8Array): BatchEntry {
  const match = FORM.exec(readText(input, ENTRY_LENGTH_MAX, 'the entry'));
  const [epoch, batch, fromNs, toNs, records] = (match ?? []).slice(1, 6).map(readDecimal);
  if (
    match === null ||
    epoch === undefined ||
    batch === undefined ||
    fromNs === undefined ||
    toNs === undefined ||
    records === undefined
  )
    throw new TlogError('the entry is not a batch of prices');
  if (toNs < fromNs) throw new TlogError('the batch ends before it begins');
  const root = readHash(match[6]!, "the batch's root");
  if (records === 0n && toBase64(root) !== toBase64(emptyRoot()))
    throw new TlogError('the batch has no records and the root of other records');
  return { epoch, batch, fromNs, toNs, records, root };
}

/** Returns the bytes of the entry. */
export function formatBatchEntry({ epoch, batch, fromNs, toNs, records, root }: BatchEntry): Uint8Array {
  return utf8Bytes(
    `${FIRST_LINE}\nepoch ${epoch}\nbatch ${batch}\nfrom ${fromNs}\nto ${toNs}\nrecords ${records}\nroot ${toBase64(root)}\n`,
  );
}

/** Makes the entry of a batch. @param records the records in their order, with times from `fromNs` to below `toNs` */
export function batchOf(
  place: Pick<BatchEntry, 'epoch' | 'batch' | 'fromNs' | 'toNs'>,
  records: readonly Uint8Array[],
  sha256?: Sha256,
): BatchEntry {
  const root = rootOf(
    records.map((record) => leafHash(record, sha256)),
    sha256,
  );
  return { ...place, records: BigInt(records.length), root };
}

/** Returns whether the entry describes these records: their number, their times and their root. */
export function isBatchOf(entry: BatchEntry, records: readonly Uint8Array[], sha256?: Sha256): boolean {
  const isInside = (record: Uint8Array) =>
    recordTimeNs(record) >= entry.fromNs && recordTimeNs(record) < entry.toNs;
  return records.every(isInside) && hasRoot(entry, records, sha256);
}

/** Returns whether the entry has the number and the root of these records. */
export function hasRoot(entry: BatchEntry, records: readonly Uint8Array[], sha256?: Sha256): boolean {
  const { root } = batchOf(entry, records, sha256);
  return entry.records === BigInt(records.length) && toBase64(root) === toBase64(entry.root);
}
