import type { Evidence } from '../../client/verify/evidence_file.js';
import { forkEvidence } from '../../client/verify/fork_evidence.js';
import { entryFault, factsOfAggregate } from '../../client/verify/log_evidence.js';
import { recordsAround } from '../../client/verify/missing_record.js';
import { leavesOf, type ServedLog } from '../../client/verify/served_log.js';
import { type BatchEntry, parseBatchEntry } from '../../tlog/batch_entry.js';
import { verifyByNode } from '../../tlog/ed25519_key.js';
import type { LogPolicy } from '../../tlog/log_policy.js';
import { isEqual } from '../../tlog/log_text.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import { openCheckpoint, requireQuorum } from '../../tlog/open_checkpoint.js';
import { RECORD_BYTES } from '../../tlog/price_record.js';
import type { Checkpoint } from '../../tlog/tree_checkpoint.js';
import { HASH_BYTES, leafHash } from '../../tlog/tree_hash.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';
import type { AuditState } from './audit_folder.js';
import { type CheckedBatch, faultOfBatch, readEarlierBatch } from './checked_batch.js';
import { OriginChanged, requireSameOrigin } from './origin_change.js';
import { type AuditFinding, type LogDelay, PriceDeadlines } from './price_deadlines.js';
import { isSignedPrice, provableEvidence } from './provable_evidence.js';
import { ReceivedPrices } from './received_prices.js';
import { RecentTree } from './recent_tree.js';

export interface LogAuditOptions {
  readonly log: ServedLog;
  readonly policy: LogPolicy;
  readonly nowNs: () => bigint;
  /** The contents of the log; default: `prices`. */
  readonly has?: 'prices' | 'hashes' | undefined;
  /** Saves the state. Resolves when the state is on disk. */
  readonly keep: (state: AuditState) => Promise<void>;
  readonly delay: LogDelay;
  /** Called at each look at which the log is in a remarkable state. */
  readonly onFinding: (finding: AuditFinding) => void;
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

/** The largest number of batches in memory, for prices that arrive after their batch was read. */
const RECENT_BATCHES_MAX = 256;
/**
 * The shortest time for which a log keeps the records of a batch. The next constant is the number of attempts to read them in this time.
 */
const RECORDS_NS_MIN = 3_600_000_000_000n;
const ATTEMPTS_MAX = 10;
/** The number of prices of earlier batches that a look compares with the log. Each takes some requests. */
const LOOK_UPS_MAX = 16;
/** The largest number of checkpoints in memory, for nodes that lag behind. */
const NOTES_MAX = 1_024;
/** The largest number of batches that are read at the same time. */
const READS_MAX = 16;

/** The audit of a log. Recomputes every batch and the tree, and compares the log with prices from other sources. */
export class LogAudit {
  readonly #options: LogAuditOptions;
  readonly #leafBytes: number;
  readonly #received = new ReceivedPrices();
  readonly #recent: CheckedBatch[] = [];
  readonly #tree: RecentTree;
  readonly #deadlines: PriceDeadlines;
  /** The newest checked checkpoints by size. */
  readonly #notes = new Map<bigint, string>();
  /** The checkpoint of the checked entries. */
  #note: string | undefined;
  #last: string | undefined;
  #unchecked = 0n;
  #attempts = 0;
  /** The size of the checkpoint of this look; absent until it was read. */
  #seen: bigint | undefined;

  constructor(options: LogAuditOptions, state: AuditState | undefined) {
    this.#options = options;
    this.#leafBytes = options.has === 'hashes' ? HASH_BYTES : RECORD_BYTES;
    this.#note = state?.note;
    this.#last = state?.lastEntry;
    this.#tree = new RecentTree(state?.peaks);
    this.#deadlines = new PriceDeadlines(options.delay, options.onFinding);
  }

  get size(): bigint {
    return this.#tree.size;
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
    const price = { record, timeNs, text, heardMs: this.#deadlines.heard() };
    const other = this.#received.add(price);
    if (other === undefined || !isSignedPrice(text, onUnsigned)) return undefined;
    if (isSignedPrice(other, onUnsigned)) return { kind: 'two values', prices: [other, text] };
    this.#received.drop(record);
    this.#received.add(price);
    return undefined;
  }

  /**
   * Reads the log's newest checkpoint and all entries up to this checkpoint.
   * @throws Error when the log does not answer
   * @throws TlogError when no checkpoint of the log satisfies the policy
   */
  async step(): Promise<AuditStep> {
    const lookMs = this.#options.delay.steadyMs();
    this.#seen = undefined;
    try {
      const evidence = (await this.#auditCheckpoint(lookMs)) ?? this.#lateEvidence(lookMs, true);
      this.#deadlines.read();
      return { size: this.size, evidence };
    } catch (error) {
      if (error instanceof OriginChanged) throw error;
      const isJudged = this.#deadlines.failed((error as Error).message, lookMs, this.#seen, this.size);
      const evidence = isJudged ? this.#lateEvidence(lookMs, false) : undefined;
      if (evidence === undefined) throw error;
      return { size: this.size, evidence };
    }
  }

  /** Returns evidence about a signed price whose deadline has passed. */
  #lateEvidence(lookMs: number, isRead: boolean): Evidence | undefined {
    this.#deadlines.skipped(this.#received.skipped);
    for (;;) {
      const late = this.#deadlines.late(this.#received.open(), this.#coveredNs, lookMs, isRead);
      if (late === undefined) return undefined;
      if (isSignedPrice(late.text, this.#options.onUnsigned))
        return this.#deadlines.evidenceOf(late, this.#note, lookMs);
      this.#received.drop(late.record);
    }
  }

  /** The time up to which the checked entries cover prices. */
  get #coveredNs(): bigint {
    return this.#last === undefined ? 0n : parseBatchEntry(this.#last).toNs;
  }

  async #auditCheckpoint(lookMs: number): Promise<Evidence | undefined> {
    const { log, policy, keep } = this.#options;
    const note = await log.checkpoint();
    requireSameOrigin(note, this.#note, policy);
    const signed = await openCheckpoint(note, policy, verifyByNode);
    const { checkpoint } = signed;
    requireQuorum(signed, policy);
    this.#seen = checkpoint.size;
    this.#deadlines.saw(checkpoint.size, lookMs, this.size);
    if (checkpoint.size < this.size) return this.#forkFrom(checkpoint, note);
    while (this.size < checkpoint.size) {
      this.#deadlines.requireTime(lookMs);
      const batches = await this.#readBatches(checkpoint.size);
      const evidence = await this.#checkBatches(batches, checkpoint, note);
      if (evidence !== undefined) return provableEvidence(evidence, note, policy);
    }
    if (!isEqual(this.#tree.root(), checkpoint.root)) {
      const fork = await this.#forkFrom(checkpoint, note);
      const found = `the entries that the log serves up to ${checkpoint.size} do not have the root of its checkpoint`;
      return fork ?? { kind: 'observed', checkpoint: note, found };
    }
    const evidence = await this.#compareHeard(checkpoint, note, lookMs);
    if (evidence !== undefined) return evidence;
    this.#note = note;
    this.#notes.set(checkpoint.size, note);
    const [oldest] = this.#notes.keys();
    if (this.#notes.size > NOTES_MAX && oldest !== undefined) this.#notes.delete(oldest);
    await keep({ note, lastEntry: this.#last, peaks: this.#tree.peaks });
    return undefined;
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
  async #checkBatches(
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
      const withheld = bytes === undefined ? this.#withheldEvidence(batch, note) : undefined;
      if (withheld !== undefined) return withheld;
      const records = bytes && leavesOf(bytes, this.#leafBytes);
      const evidence =
        records && (await faultOfBatch({ entry, batch, records }, this.#leafBytes, checkpoint, note, log));
      if (evidence !== undefined) return evidence;
      if (records === undefined) this.#unchecked += 1n;
      this.#tree.append(leafHash(Buffer.from(entry), nodeSha256));
      this.#last = entry;
      this.#attempts = 0;
      this.#recent.push({ entry, batch, records });
      if (this.#recent.length > RECENT_BATCHES_MAX) this.#recent.shift();
    }
    return undefined;
  }

  /** Returns evidence that the log withholds a new batch. @throws Error before the last attempt, because the answering node may lag */
  #withheldEvidence({ batch, toNs }: BatchEntry, note: string): Evidence | undefined {
    if (this.#options.nowNs() - toNs > RECORDS_NS_MIN) return undefined;
    const found = `the log does not serve the records of batch ${batch}`;
    this.#attempts += 1;
    if (this.#attempts < ATTEMPTS_MAX) throw new Error(found);
    return { kind: 'observed', checkpoint: note, found };
  }

  /** Compares the received prices with the batches of their times. */
  async #compareHeard(checkpoint: Checkpoint, note: string, lookMs: number): Promise<Evidence | undefined> {
    const recentNs = this.#recent[0]?.batch.fromNs ?? this.#coveredNs;
    let lookUps = 0;
    for (const { record, timeNs, text } of this.#received.open()) {
      // A price of a later time waits for a later checkpoint.
      if (timeNs >= this.#coveredNs) continue;
      if (timeNs < recentNs && ++lookUps > LOOK_UPS_MAX) continue;
      if (timeNs < recentNs) this.#deadlines.requireTime(lookMs);
      const checked =
        timeNs < recentNs
          ? await readEarlierBatch(timeNs, checkpoint, this.#options.log)
          : this.#recent.find(({ batch }) => timeNs >= batch.fromNs && timeNs < batch.toNs);
      if (checked?.records === undefined) {
        // The log began after this price, or no longer serves the records of its batch.
        this.#received.drop(record);
        continue;
      }
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

  /** Returns evidence against a checkpoint that is inconsistent with a checked one. */
  async #forkFrom(head: TreeHead, note: string): Promise<Evidence | undefined> {
    // A checkpoint of the same size needs no tiles.
    const own = this.#notes.get(head.size) ?? this.#note;
    if (own === undefined) return undefined;
    const { log, policy } = this.#options;
    const kept = (await openCheckpoint(own, policy, verifyByNode)).checkpoint;
    // A log that has forked serves no tiles of its other tree.
    const isOwn = head.size < kept.size && head.size >= this.#tree.knownFrom;
    return forkEvidence(
      { note: own, head: kept },
      { note, head },
      (nodes, size) => (isOwn || nodes.length === 0 ? this.#tree.read : log.nodes(nodes, size)),
      nodeSha256,
    );
  }
}
