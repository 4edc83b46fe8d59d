import type { Evidence } from '../../client/verify/evidence_file.js';
import { leafFault, requireEntry } from '../../client/verify/log_evidence.js';
import { provenRecord } from '../../client/verify/missing_record.js';
import { leavesOf, type ServedLog } from '../../client/verify/served_log.js';
import { type BatchEntry, batchOf, isBatchOf } from '../../tlog/batch_entry.js';
import { isEqual } from '../../tlog/log_text.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import { RECORD_BYTES } from '../../tlog/price_record.js';
import { TlogError } from '../../tlog/tlog_error.js';
import type { Checkpoint } from '../../tlog/tree_checkpoint.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';

/** A batch with its checked leaves. */
export interface CheckedBatch {
  readonly entry: string;
  readonly batch: BatchEntry;
  /** Absent when the log no longer serves the records. */
  readonly records: readonly Uint8Array[] | undefined;
}

/**
 * Reads the batch of an earlier time, and checks that the checkpoint covers it.
 * @returns `undefined` when the log begins after this time
 * @throws TlogError when the served files are not those of the checkpoint
 */
export async function readEarlierBatch(
  timeNs: bigint,
  checkpoint: Checkpoint,
  log: ServedLog,
): Promise<CheckedBatch | undefined> {
  const found = await log.batchAt(timeNs, checkpoint.size);
  if (typeof found === 'string') return undefined;
  const { batch } = found;
  const entry = new TextDecoder().decode(found.entry);
  requireEntry(await log.prove(batch.batch, entry, checkpoint.size), checkpoint);
  const bytes = await log.records(batch.batch);
  const records = bytes && leavesOf(bytes, RECORD_BYTES);
  if (
    records?.some(({ length }) => length !== RECORD_BYTES) ||
    (records && !isBatchOf(batch, records, nodeSha256))
  )
    throw new TlogError(`the log serves records of batch ${batch.batch} that are not those of its entry`);
  return { entry, batch, records };
}

/**
 * Returns evidence about the records that a log serves for a batch; `undefined` when they are as they must be.
 * @param leafBytes the length of each record
 */
export async function faultOfBatch(
  { entry, batch, records = [] }: CheckedBatch,
  leafBytes: number,
  checkpoint: TreeHead,
  note: string,
  log: ServedLog,
): Promise<Evidence | undefined> {
  const made = batchOf(batch, records, nodeSha256);
  if (made.records !== batch.records || !isEqual(made.root, batch.root)) {
    const found = `the log serves records of batch ${batch.batch} that do not have the root of its entry`;
    return { kind: 'observed', checkpoint: note, found };
  }
  const at = records.findIndex((record, i) => leafFault(batch, record, records[i + 1]) !== undefined);
  if (at < 0) {
    if (records.every(({ length }) => length === leafBytes)) return undefined;
    const found = `batch ${batch.batch} has a leaf of the other kind of log: one has prices, the other the hashes of payloads`;
    return { kind: 'observed', checkpoint: note, found };
  }
  const faulty = [at, at + 1]
    .filter((i) => i < records.length)
    .map((i) => provenRecord(records, i, nodeSha256));
  const proven = await log.prove(batch.batch, entry, checkpoint.size);
  return { kind: 'bad records', checkpoint: note, batch: proven, records: faulty };
}
