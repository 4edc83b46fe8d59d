import { type BatchEntry, parseBatchEntry } from '../../tlog/batch_entry.js';
import { verifyByWebCrypto } from '../../tlog/ed25519.js';
import { hashesOfBatch } from '../../tlog/hash_batch.js';
import { isEqual } from '../../tlog/log_text.js';
import { openCheckpoint, requireQuorum } from '../../tlog/open_checkpoint.js';
import type { LoggedPrice } from '../../tlog/price_proof.js';
import type { Sha256 } from '../../tlog/tree_hash.js';
import { unknownOrigin } from './changed_origin.js';
import type { Payload } from './decode_payload.js';
import { keccak256 } from './keccak_sponge.js';
import { requireEntry } from './log_evidence.js';
import type { LogExpectations } from './logged_price.js';
import { type ReadLogFile, ServedLog } from './served_log.js';

/**
 * The longest time between a payload's own time and the batch that has its hash. A hash is usually logged within a second. A thread that
 * was busy hands its hashes over later, and after a step back of the clock a payload's time is ahead of the log.
 */
const SEARCH_NS = 30_000_000_000n;

/** The place of a payload in the log of its node, or the reason why it was not found. */
export type PayloadPlace = { readonly logged: LoggedPrice } | { readonly lacks: string };

interface ScannedEntry {
  readonly entry: Uint8Array;
  readonly batch: BatchEntry;
}

/**
 * Looks for a streaming payload in the log of the node that signed it. Does not verify the payload's own signature.
 * @param read reads a public file of the log
 * @throws TlogError when the log or its checkpoint is invalid
 */
export async function findPayload(
  { body, timestampNs }: Pick<Payload, 'body' | 'timestampNs'>,
  read: ReadLogFile,
  { policy, verifyEd25519 = verifyByWebCrypto }: LogExpectations,
  sha256?: Sha256,
): Promise<PayloadPlace> {
  const log = new ServedLog(read, sha256);
  const note = await log.checkpoint();
  const other = unknownOrigin(note, policy);
  if (other !== undefined) return { lacks: other };
  const signed = await openCheckpoint(note, policy, verifyEd25519);
  requireQuorum(signed, policy);
  const { checkpoint, cosigners } = signed;
  const { origin, size } = checkpoint;
  const near = await entriesNear(log, timestampNs, size);
  const hash = keccak256(body);
  for (const { entry, batch } of near) {
    if (batch.records === 0n) continue;
    const bytes = await log.records(batch.batch);
    if (bytes === undefined) return { lacks: `the records of batch ${batch.batch} are no longer kept` };
    const record = hashesOfBatch(batch, bytes, sha256).findIndex((one) => isEqual(one, hash));
    if (record < 0) continue;
    const proven = await log.prove(batch.batch, new TextDecoder().decode(entry), size);
    requireEntry(proven, checkpoint);
    return { logged: { origin, size, batch, record: BigInt(record), cosigners } };
  }
  return { lacks: reasonOf(near, timestampNs, size, origin) };
}

/** Reads the entries around a time: first those from the time on, then the earlier ones. */
async function entriesNear(log: ServedLog, timeNs: bigint, size: bigint): Promise<ScannedEntry[]> {
  const found = await log.batchAt(timeNs, size);
  const start = found === 'earlier' ? 0n : found === 'later' ? size : found.batch.batch;
  const later: ScannedEntry[] = [];
  for (let next = start; next < size; ) {
    const entries = (await log.entries(next, size)).map(scanEntry);
    const inTime = entries.filter(({ batch }) => batch.fromNs <= timeNs + SEARCH_NS);
    later.push(...inTime);
    if (inTime.length < entries.length) break;
    next += BigInt(entries.length);
  }
  const earlier: ScannedEntry[] = [];
  for (let index = start - 1n; index >= 0n; index -= 1n) {
    const one = scanEntry((await log.entries(index, size))[0]!);
    if (one.batch.toNs < timeNs - SEARCH_NS) break;
    earlier.push(one);
  }
  return [...later, ...earlier];
}

function scanEntry(entry: Uint8Array): ScannedEntry {
  return { entry, batch: parseBatchEntry(entry) };
}

function reasonOf(near: readonly ScannedEntry[], timeNs: bigint, size: bigint, origin: string): string {
  const last = near.find(({ batch }) => batch.batch === size - 1n);
  if (last !== undefined && last.batch.toNs < timeNs + SEARCH_NS)
    return `${origin} does not have it yet: its newest checkpoint ends less than 30 s after the payload's time, so ask again later`;
  const starts = new Set(near.map(({ batch }) => batch.epoch));
  const restart =
    starts.size > 1
      ? '; the node was started again within this time, and a killed process loses its newest hashes'
      : '';
  return `${origin} does not have it within 30 s of the payload's time${restart}`;
}
