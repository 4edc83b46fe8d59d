import { type BatchEntry, parseBatchEntry } from './batch_entry.js';
import { type VerifyEd25519, verifyByWebCrypto } from './ed25519.js';
import type { LogPolicy } from './log_policy.js';
import { linesOf, readDecimal, readText, toBase64, utf8Bytes } from './log_text.js';
import { openCheckpoint, requireQuorum } from './open_checkpoint.js';
import { recordTimeNs } from './price_record.js';
import { type ProofFile, parseProofFile } from './proof_file.js';
import { TlogError } from './tlog_error.js';
import { leafHash, readHash } from './tree_hash.js';
import { type Inclusion, isIncluded, PROOF_HASHES_MAX } from './tree_proofs.js';

/** The extra data of a price's proof: the entry of its batch, and the place of its record in the batch. */
export interface BatchPlace {
  /** The bytes of the entry. */
  readonly entry: Uint8Array;
  readonly record: bigint;
  /** The audit path of the record in the batch's tree. */
  readonly path: readonly Uint8Array[];
}

/** The place of a price in a log whose checkpoint the policy's witnesses have cosigned. */
export interface LoggedPrice {
  readonly origin: string;
  /** The number of entries of the log at the checkpoint. */
  readonly size: bigint;
  readonly batch: BatchEntry;
  /** The index of the record in its batch. */
  readonly record: bigint;
  /** The time of each cosignature, in UNIX seconds, by the witness's name in the policy. */
  readonly cosigners: ReadonlyMap<string, bigint>;
}

const EXTRA_LENGTH_MAX = 16 * 1024;

/**
 * Verifies a proof that a log has the record of a signed price. Does not verify the price's own signature.
 * @param record the record, made from the price's own contents
 * @throws TlogError that names the failed step
 */
export async function verifyPriceProof(
  record: Uint8Array,
  proof: string | Uint8Array,
  policy: LogPolicy,
  verify: VerifyEd25519 = verifyByWebCrypto,
): Promise<LoggedPrice> {
  const file = parseProofFile(proof);
  const place = readPlace(file);
  const batch = parseBatchEntry(place.entry);
  const timeNs = recordTimeNs(record);
  if (timeNs < batch.fromNs || timeNs >= batch.toNs)
    throw new TlogError(`the price was signed at ${timeNs} ns, which is not in batch ${batch.batch}`);
  const inBatch: Inclusion = { index: place.record, size: batch.records, path: place.path };
  if (!isIncluded(leafHash(record), inBatch, batch.root))
    throw new TlogError(`batch ${batch.batch} does not have this price at ${place.record}`);
  if (batch.batch !== file.index)
    throw new TlogError(`batch ${batch.batch} is not the entry ${file.index} of the log`);
  const signed = await openCheckpoint(file.checkpoint, policy, verify);
  const { origin, size, root } = signed.checkpoint;
  if (!isIncluded(leafHash(place.entry), { index: file.index, size, path: file.path }, root))
    throw new TlogError(`${origin} does not have this batch at ${file.index}`);
  requireQuorum(signed, policy);
  return { origin, size, batch, record: place.record, cosigners: signed.cosigners };
}

/** Returns the extra data of a price's proof: the entry, an empty line, `record <index>` and the path, one hash a line. */
export function formatPlace({ entry, record, path }: BatchPlace): Uint8Array {
  const text = `\nrecord ${record}\n${path.map((hash) => `${toBase64(hash)}\n`).join('')}`;
  return Uint8Array.from([...entry, ...utf8Bytes(text)]);
}

function readPlace({ extra }: ProofFile): BatchPlace {
  const text = extra === undefined ? '' : readText(extra, EXTRA_LENGTH_MAX, 'the extra data');
  const end = text.indexOf('\n\n');
  const [first = '', ...hashes] = end < 0 ? [] : linesOf(text.slice(end + 2), 'the extra data');
  const record = readDecimal(first.replace(/^record /, ''));
  if (record === undefined || !first.startsWith('record '))
    throw new TlogError("the proof's extra data is not the place of a price");
  if (hashes.length > PROOF_HASHES_MAX) throw new TlogError("the record's path is too long");
  const path = hashes.map((line, i) => readHash(line, `hash ${i} of the record's path`));
  return { entry: utf8Bytes(text.slice(0, end + 1)), record, path };
}
