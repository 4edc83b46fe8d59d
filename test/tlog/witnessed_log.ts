import { type BatchEntry, batchOf, formatBatchEntry } from '../../src/tlog/batch_entry.js';
import { Ed25519Key } from '../../src/tlog/ed25519_key.js';
import { formatPlace } from '../../src/tlog/price_proof.js';
import { encodeRecord, sortRecords } from '../../src/tlog/price_record.js';
import { formatProofFile } from '../../src/tlog/proof_file.js';
import { formatNote } from '../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../src/tlog/tree_checkpoint.js';
import { inclusionPath, treeRoot } from '../../src/tlog/tree_nodes.js';
import { formatVerifierKey } from '../../src/tlog/verifier_key.js';
import { nodesOfEntries } from './small_log.js';

/** A log and three witnesses with fixed keys. */
export const LOG_ORIGIN = 'prices.example.com/tlog';
export const LOG = new Ed25519Key(new Uint8Array(32).fill(10));
export const WITNESSES = [1, 2, 3].map((number) => ({
  name: `w${number}.example`,
  key: new Ed25519Key(new Uint8Array(32).fill(number)),
}));

/** Returns a policy with the log, the witnesses W1 to W3, and further lines. */
export function policyText(lines: string): string {
  const witnesses = WITNESSES.map(
    ({ name, key }, i) => `witness W${i + 1} ${formatVerifierKey(key.witnessKey(name))}\n`,
  );
  return `log ${formatVerifierKey(LOG.logKey(LOG_ORIGIN))}\n${witnesses.join('')}${lines}\n`;
}

/** Returns a record whose bytes are determined by its numbers. */
export function recordAt(timeNs: bigint, asset = 1, price = 1): Uint8Array {
  return encodeRecord({
    signatureType: asset % 2 === 0 ? 'stark' : 'evm',
    signer: new Uint8Array(32).fill(7),
    symbolHash: new Uint8Array(32).fill(asset),
    timeNs,
    msgHash: new Uint8Array(32).fill(price),
  });
}

export interface LoggedBatches {
  readonly entries: readonly BatchEntry[];
  readonly records: readonly (readonly Uint8Array[])[];
}

export const SECOND_NS = 1_000_000_000n;

/** Creates batches of one second each. Each batch contains the records that `recordsOf` returns for its start. */
export function batchesOf(
  count: number,
  recordsOf: (fromNs: bigint) => readonly Uint8Array[],
  startNs = 0n,
): LoggedBatches {
  const startOf = (i: number) => startNs + BigInt(i) * SECOND_NS;
  const records = Array.from({ length: count }, (_, i) => sortRecords(recordsOf(startOf(i))));
  const entries = records.map((those, i) => {
    const fromNs = startOf(i);
    return batchOf({ epoch: 0n, batch: BigInt(i), fromNs, toNs: fromNs + SECOND_NS }, those);
  });
  return { entries, records };
}

/** Returns the proof file of a record, with a checkpoint over all batches that these witnesses cosigned. */
export function proofOf(
  { entries, records }: LoggedBatches,
  batch: number,
  record: number,
  cosigners = WITNESSES,
): string {
  const bytes = entries.map(formatBatchEntry);
  const size = BigInt(entries.length);
  const read = nodesOfEntries(bytes);
  const text = formatCheckpoint({ origin: LOG_ORIGIN, size, root: treeRoot(size, read) });
  const signatures = [
    LOG.sign(LOG_ORIGIN, text),
    ...cosigners.map(({ key, name }) => key.cosign(name, text, 100n)),
  ];
  const inBatch = records[batch]!;
  const extra = formatPlace({
    entry: bytes[batch]!,
    record: BigInt(record),
    path: inclusionPath(BigInt(record), BigInt(inBatch.length), nodesOfEntries(inBatch)),
  });
  return formatProofFile({
    extra,
    index: BigInt(batch),
    path: inclusionPath(BigInt(batch), size, read),
    checkpoint: formatNote({ text, signatures }),
  });
}
