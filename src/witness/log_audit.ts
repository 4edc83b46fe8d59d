import { changedOrigin, originOf, unknownOrigin } from '../client/verify/changed_origin.js';
import type { Evidence } from '../client/verify/evidence_file.js';
import { entryFault, factsOfAggregate, leafFault } from '../client/verify/log_evidence.js';
import { provenRecord, recordsAround } from '../client/verify/missing_record.js';
import { leavesOf, type ServedLog } from '../client/verify/served_log.js';
import { type BatchEntry, batchOf, parseBatchEntry } from '../tlog/batch_entry.js';
import { CompactTree } from '../tlog/compact_tree.js';
import { verifyByNode } from '../tlog/ed25519_key.js';
import type { LogPolicy } from '../tlog/log_policy.js';
import { isEqual, toBase64 } from '../tlog/log_text.js';
import { nodeSha256 } from '../tlog/node_sha256.js';
import { openCheckpoint, requireQuorum } from '../tlog/open_checkpoint.js';
import { RECORD_BYTES } from '../tlog/price_record.js';
import { HASH_BYTES, leafHash } from '../tlog/tree_hash.js';
import { consistencyProof, nodesOfConsistency, nodesOfRoot, treeRoot } from '../tlog/tree_nodes.js';
import { isConsistent, type TreeHead } from '../tlog/tree_proofs.js';
import type { AuditState } from './audit_folder.js';
import { isSignedPrice, provableEvidence } from './provable_evidence.js';
import { ReceivedPrices } from './received_prices.js';

export interface LogAuditOptions {
  readonly log: ServedLog;
  readonly policy: LogPolicy;
  readonly nowNs: () => bigint;
  /** The contents of the log; default: `prices`. */
  readonly has?: 'prices' | 'hashes' | undefined;
  /** Saves the state. Resolves when the state is on disk. */
  readonly keep: (state: AuditState) => Promise<void>;
  /** Called for a received price that its signer did not sign. Such a price proves nothing about the log. */
  readonly onUnsigned?: (reason: string) => void;
}

/** The result of reading a log once. */
export interface AuditStep {
  /** The number of entries that the audit has checked. */
  readonly size: bigint;
  /** The evidence of a fault; `undefined` without a fault. A fault ends the audit. */
  readonly evidence: Evidence | undefined;
}

/** A batch with its checked leaves. */
interface CheckedBatch {
  readonly entry: string;
  readonly batch: BatchEntry;
  /** Absent when the log no longer serves the records. */
  readonly records: readonly Uint8Array[] | undefined;
}

/** The largest number of batches in memory, for prices that arrive after their batch was read. */
const RECENT_BATCHES_MAX = 256;
/**
 * The shortest time for which a log keeps the records of a batch. The next constant is the number of attempts to read them in this time.
 */
const RECORDS_NS_MIN = 3_600_000_000_000n;
const ATTEMPTS_MAX = 10;
/** The largest number of checkpoints in memory, for nodes that lag behind. */
const NOTES_MAX = 1_024;
/** The largest number of batches that are read at the same time. */
const READS_MAX = 16;

/** Thrown when the service's log has another origin than before. The old log has then ended, which does not prove a fault. */
export class OriginChanged extends Error {
  override readonly name = 'OriginChanged';
}

/** The audit of a log. Recomputes every batch and the tree, and compares the log with prices from other sources. */
export class LogAudit {
  readonly #options: LogAuditOptions;
  readonly #leafBytes: number;
  readonly #received = new ReceivedPrices();
  readonly #recent: CheckedBatch[] = [];
  readonly #peaks: CompactTree;
  /** The newest checked checkpoints by size. */
  readonly #notes = new Map<bigint, string>();
  /** The checkpoint of the checked entries. */
  #note: string | undefined;
  #last: string | undefined;
  #unchecked = 0n;
  #attempts = 0;

  constructor(options: LogAuditOptions, state: AuditState | undefined) {
    this.#options = options;
    this.#leafBytes = options.has === 'hashes' ? HASH_BYTES : RECORD_BYTES;
    this.#note = state?.note;
    this.#last = state?.lastEntry;
    this.#peaks = new CompactTree(state?.peaks, nodeSha256);
  }

  get size(): bigint {
    return this.#peaks.size;
  }

  /** The number of batches whose records the log no longer serves. */
  get unchecked(): bigint {
    return this.#unchecked;
  }

  /** The number of received prices that the log contains. */
  get found(): number {
    return this.#received.found;
  }

  /**
   * Records a signed price of the service from another source.
   * @param text the JSON of the aggregate
   * @returns evidence when the service has signed another value for the same place
   */
  receive(text: string): Evidence | undefined {
    const { onUnsigned } = this.#options;
    const { record, timeNs } = factsOfAggregate(text);
    const other = this.#received.add(record, timeNs, text);
    if (other === undefined || !isSignedPrice(text, onUnsigned)) return undefined;
    if (isSignedPrice(other, onUnsigned)) return { kind: 'two values', prices: [other, text] };
    this.#received.drop(record);
    this.#received.add(record, timeNs, text);
    return undefined;
  }

  /**
   * Reads the log's newest checkpoint and all entries up to this checkpoint.
   * @throws Error when the log does not answer
   * @throws TlogError when no checkpoint of the log satisfies the policy
   */
  async step(): Promise<AuditStep> {
    const { log, policy, keep } = this.#options;
    const note = await log.checkpoint();
    requireSameOrigin(note, this.#note, policy);
    const signed = await openCheckpoint(note, policy, verifyByNode);
    const { checkpoint } = signed;
    requireQuorum(signed, policy);
    if (checkpoint.size < this.size) return this.#done(await this.#forkFrom(checkpoint, note));
    while (this.size < checkpoint.size) {
      const batches = await this.#readBatches(checkpoint.size);
      const evidence = await this.#check(batches, checkpoint, note);
      if (evidence !== undefined) return this.#done(await provableEvidence(evidence, note, policy));
    }
    if (!isEqual(this.#peaks.root(), checkpoint.root)) {
      const fork = await this.#forkFrom(checkpoint, note);
      const found = `the entries that the log serves up to ${checkpoint.size} do not have the root of its checkpoint`;
      return this.#done(fork ?? { kind: 'observed', checkpoint: note, found });
    }
    const evidence = await this.#compareHeard(checkpoint, note);
    if (evidence !== undefined) return this.#done(evidence);
    this.#note = note;
    this.#notes.set(checkpoint.size, note);
    const [oldest] = this.#notes.keys();
    if (this.#notes.size > NOTES_MAX && oldest !== undefined) this.#notes.delete(oldest);
    await keep({ note, lastEntry: this.#last, peaks: this.#peaks.peaks });
    return this.#done(undefined);
  }

  #done(evidence: Evidence | undefined): AuditStep {
    return { size: this.size, evidence };
  }

  async #readBatches(
    size: bigint,
  ): Promise<{ readonly entry: string; readonly bytes: Uint8Array | undefined }[]> {
    const { log } = this.#options;
    const start = this.size;
    const entries = (await log.entries(start, size)).slice(0, READS_MAX);
    return Promise.all(
      entries.map(async (entry, i) => ({
        entry: Buffer.from(entry).toString(),
        bytes: await log.records(start + BigInt(i)),
      })),
    );
  }

  /** Checks entries and their records, and appends the entries to the tree. */
  async #check(
    batches: readonly { readonly entry: string; readonly bytes: Uint8Array | undefined }[],
    checkpoint: TreeHead,
    note: string,
  ): Promise<Evidence | undefined> {
    const { log } = this.#options;
    for (const { entry, bytes } of batches) {
      const index = String(this.size);
      const before =
        this.#last === undefined ? undefined : { index: String(this.size - 1n), entry: this.#last };
      if (entryFault({ index, entry }, before) !== undefined) {
        const entries = [await log.prove(this.size, entry, checkpoint.size)];
        if (before !== undefined)
          entries.push(await log.prove(this.size - 1n, before.entry, checkpoint.size));
        return { kind: 'bad entry', checkpoint: note, entries };
      }
      const batch = parseBatchEntry(entry);
      const withheld = bytes === undefined ? this.#withheld(batch, note) : undefined;
      if (withheld !== undefined) return withheld;
      const records = bytes && leavesOf(bytes, this.#leafBytes);
      const evidence = records && (await this.#checkRecords(entry, batch, records, checkpoint, note));
      if (evidence !== undefined) return evidence;
      if (records === undefined) this.#unchecked += 1n;
      this.#peaks.append(leafHash(Buffer.from(entry), nodeSha256));
      this.#last = entry;
      this.#attempts = 0;
      this.#recent.push({ entry, batch, records });
      if (this.#recent.length > RECENT_BATCHES_MAX) this.#recent.shift();
    }
    return undefined;
  }

  /** Returns evidence that the log withholds a new batch. @throws Error before the last attempt, because the answering node may lag */
  #withheld({ batch, toNs }: BatchEntry, note: string): Evidence | undefined {
    if (this.#options.nowNs() - toNs > RECORDS_NS_MIN) return undefined;
    const found = `the log does not serve the records of batch ${batch}`;
    this.#attempts += 1;
    if (this.#attempts < ATTEMPTS_MAX) throw new Error(found);
    return { kind: 'observed', checkpoint: note, found };
  }

  async #checkRecords(
    entry: string,
    batch: BatchEntry,
    records: readonly Uint8Array[],
    checkpoint: TreeHead,
    note: string,
  ): Promise<Evidence | undefined> {
    const made = batchOf(batch, records, nodeSha256);
    if (made.records !== batch.records || !isEqual(made.root, batch.root)) {
      const found = `the log serves records of batch ${batch.batch} that do not have the root of its entry`;
      return { kind: 'observed', checkpoint: note, found };
    }
    const at = records.findIndex((record, i) => leafFault(batch, record, records[i + 1]) !== undefined);
    if (at < 0) {
      if (records.every(({ length }) => length === this.#leafBytes)) return undefined;
      const found = `batch ${batch.batch} has a leaf of the other kind of log: one has prices, the other the hashes of payloads`;
      return { kind: 'observed', checkpoint: note, found };
    }
    const faulty = [at, at + 1]
      .filter((i) => i < records.length)
      .map((i) => provenRecord(records, i, nodeSha256));
    const proven = await this.#options.log.prove(batch.batch, entry, checkpoint.size);
    return { kind: 'bad records', checkpoint: note, batch: proven, records: faulty };
  }

  /** Compares the received prices with the batches of their times. */
  async #compareHeard(checkpoint: TreeHead, note: string): Promise<Evidence | undefined> {
    for (const { record, timeNs, text } of this.#received.open()) {
      const checked = this.#recent.find(({ batch }) => timeNs >= batch.fromNs && timeNs < batch.toNs);
      // A price of a later time waits for a later checkpoint. An older price is skipped.
      if (checked?.records === undefined) continue;
      const { entry, batch, records } = checked;
      const around = recordsAround(records, record, nodeSha256);
      if (around === undefined) {
        this.#received.settle(record);
        continue;
      }
      if (!isSignedPrice(text, this.#options.onUnsigned)) {
        this.#received.drop(record);
        continue;
      }
      return {
        kind: 'not in the log',
        price: text,
        checkpoint: note,
        batch: await this.#options.log.prove(batch.batch, entry, checkpoint.size),
        records: around,
      };
    }
    return undefined;
  }

  /**
   * Returns evidence that a checkpoint is inconsistent with the last checked checkpoint. The evidence comes from the tiles of the
   * larger tree. Returns `undefined` for consistent checkpoints, and for tiles that prove nothing.
   */
  async #forkFrom(head: TreeHead, note: string): Promise<Evidence | undefined> {
    // A checkpoint of the same size needs no tiles.
    const own = this.#notes.get(head.size) ?? this.#note;
    if (own === undefined) return undefined;
    const kept = (await openCheckpoint(own, this.#options.policy, verifyByNode)).checkpoint;
    const isOlder = head.size < kept.size;
    const [older, newer] = isOlder ? [head, kept] : [kept, head];
    const checkpoints: [string, string] = isOlder ? [note, own] : [own, note];
    if (older.size === 0n) return undefined;
    const isSame = older.size === newer.size;
    const nodes = isSame ? [] : [...nodesOfRoot(older.size), ...nodesOfConsistency(older.size, newer.size)];
    const read = await this.#options.log.nodes(nodes, newer.size);
    const root = isSame ? newer.root : treeRoot(older.size, read, nodeSha256);
    const proof = isSame ? [] : consistencyProof(older.size, newer.size, read, nodeSha256);
    if (isEqual(root, older.root) || !isConsistent({ size: older.size, root }, newer, proof))
      return undefined;
    return { kind: 'fork', checkpoints, root: toBase64(root), proof: proof.map(toBase64) };
  }
}

/** @throws OriginChanged when the origin of the service's log differs from the audited log, or is not in the policy */
function requireSameOrigin(note: string, before: string | undefined, policy: LogPolicy): void {
  const origin = originOf(note);
  const known = before === undefined ? undefined : originOf(before);
  if (known !== undefined && known !== origin)
    throw new OriginChanged(
      `${changedOrigin(origin, known)}, and audit the new log with its key in the policy and another --folder`,
    );
  const other = unknownOrigin(note, policy);
  if (other !== undefined) throw new OriginChanged(other);
}
