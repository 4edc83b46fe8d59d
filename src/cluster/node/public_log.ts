import { setTimeout as wait } from 'node:timers/promises';
import type { Holding } from '../../log/records/holding.js';
import type { PublicLogFacts } from '../../model/node_list.js';
import { LedgerStopped } from '../../publiclog/ledger/ledger.js';
import { recordMaker } from '../../publiclog/ledger/record_of_aggregate.js';
import { formatBatchEntry } from '../../tlog/batch_entry.js';
import { formatCheckpoint } from '../../tlog/tree_checkpoint.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';
import type { PublicLogKind } from '../log/log_batch.js';
import type { BatchSource } from './batch_source.js';
import { FollowedLog } from './followed_log.js';
import type { OtherLogFiles } from './other_log_files.js';
import type { LogKey, PublicLogFigures, PublicLogOptions } from './public_log_options.js';

/** The interval between checks whether signing has ended. */
const SIGNING_POLL_MS = 5;
/** The delay after a failed batch or checkpoint. */
const RETRY_MS = 1_000;

/** The public log as the service uses it. */
export interface OpenLog extends Pick<PublicLog, Exclude<keyof PublicLog, 'facts'>> {
  /** The facts by which readers verify the log; `undefined` while the node does not know them. */
  readonly facts: PublicLogFacts | undefined;
}

/**
 * Writes this node's public log, in the order of the log of prices. While the node makes prices, it also closes batches and signs
 * checkpoints over them. Every part passes through the log of prices before it takes effect, so all nodes of a cluster have the same log.
 */
export class PublicLog {
  readonly #options: PublicLogOptions;
  readonly #recordOf = recordMaker();
  #source: BatchSource | undefined;
  #fromNs = 0n;
  #nextBatchMs = 0;
  #nextCheckpointMs = 0;
  /** The earliest time of the next attempt after a failure. */
  #retryMs = 0;
  readonly #followed: FollowedLog;
  /** True while no batch may be closed, because the next checkpoint covers all batches before its place in the log of prices. */
  #isNaming = false;
  #closing: Promise<void> | undefined;
  #publishing: Promise<void> | undefined;
  #lacksQuorum = false;
  #stopped: string | undefined;
  #facts: PublicLogFacts;
  /** The key of a reload. The log signs with this key after the checkpoint in progress is published. */
  #nextKey: LogKey | undefined;
  #failure: string | undefined;

  constructor(options: PublicLogOptions) {
    this.#options = options;
    this.#facts = options.facts;
    this.#followed = new FollowedLog(options, async (work) => {
      if (this.#stopped === undefined) await this.#attempt(work());
    });
  }

  get facts(): PublicLogFacts {
    return this.#facts;
  }

  /** Signs checkpoints with another key, or by another policy, from now on. The log keeps its name and its batches. */
  changeKey(next: LogKey): void {
    this.#facts = next.facts;
    this.#nextKey = next;
  }

  /** The end of the last batch. Further aggregates must have later times. */
  get endNs(): bigint {
    const sealedNs = this.#options.ledger.last?.toNs ?? 0n;
    return sealedNs > this.#followed.endNs ? sealedNs : this.#followed.endNs;
  }

  /** Notes a record of the log of prices. */
  record(holding: Holding): void {
    if (holding.state === 'priced') this.add(this.#recordOf(holding.aggregate));
  }

  /** Adds a record in the form of the ledger. */
  add(record: Uint8Array): void {
    if (this.#stopped === undefined) this.#options.ledger.add(record);
  }

  /** Receives a part of the public log. All nodes receive the parts and records in the same order. */
  follow(kind: PublicLogKind, bytes: Uint8Array): void {
    if (this.#stopped === undefined) this.#followed.receive(kind, bytes);
  }

  /** Requests missing parts from the other nodes from now on. */
  joinOthers(files: OtherLogFiles): void {
    this.#followed.joinOthers(files);
  }

  /** Begins to close batches for this maker of prices. */
  lead(source: BatchSource): void {
    this.#source = source;
    this.#fromNs = source.endPeriod(this.#options.batchNs);
    this.#nextBatchMs = this.#options.nowMs();
    this.#options.publisher.begin();
  }

  tick(): void {
    const next = this.#nextKey;
    if (next !== undefined && this.#publishing === undefined) {
      this.#nextKey = undefined;
      this.#options.publisher.change(next.key, next);
    }
    const source = this.#source;
    const { nowMs } = this.#options;
    if (source === undefined || this.#stopped !== undefined) return;
    if (source.isOver) {
      this.#source = undefined;
      this.#failure = undefined;
      void this.#options.publisher.stopAsking();
      return;
    }
    if (nowMs() >= this.#nextBatchMs && !this.#isNaming)
      this.#closing ??= this.#attempt(this.#closeBatch(source)).finally(() => {
        this.#closing = undefined;
      });
    this.#tellQuorum();
    if (this.#isPublishingDue())
      this.#publishing ??= this.#attempt(this.#whileLeading(source, this.#publish(source))).finally(() => {
        this.#publishing = undefined;
      });
  }

  /** Returns the reasons why the log does not continue. */
  troubles(): readonly string[] {
    return [this.#stopped, this.#failure ?? this.#followed.failure].flatMap((reason) =>
      reason === undefined ? [] : [reason],
    );
  }

  figures(): PublicLogFigures {
    const { ledger, publisher, nowMs } = this.#options;
    const { publishedAtMs } = this.#followed;
    return {
      size: ledger.sealed.size,
      checkpointAgeMs: publishedAtMs === undefined ? undefined : nowMs() - publishedAtMs,
      witnesses: publisher.cosigners,
      hasQuorum: !publisher.isGraceOver,
      isStopped: this.#stopped !== undefined,
    };
  }

  /** Resolves when all records so far are on disk. The store's journal waits for this, so the public log has all records of each commit. */
  async write(): Promise<void> {
    await this.#followed.write();
    if (this.#stopped === undefined) await this.#followed.commitHead();
    await this.#options.ledger.flush();
  }

  async close(): Promise<void> {
    this.#source = undefined;
    await this.#followed.close();
    await this.#closing;
    await this.#publishing;
    await this.#options.publisher.stopAsking();
    await this.#followed.settled;
    await this.#options.ledger.close();
  }

  /** Passes a part through the log of prices, and waits until it takes effect here. */
  async #append(source: BatchSource, kind: PublicLogKind, bytes: Uint8Array): Promise<void> {
    await source.append(kind, bytes);
    await this.#followed.settled;
  }

  async #closeBatch(source: BatchSource): Promise<void> {
    const { ledger, batchNs, nowMs } = this.#options;
    const startMs = nowMs();
    await this.#followed.settled;
    await this.#followed.requireComplete();
    const toNs = source.endPeriod(batchNs);
    const fromNs = ledger.last?.toNs ?? this.#fromNs;
    // A clock that stands still or goes back ends no period.
    this.#nextBatchMs = startMs + Number(batchNs / 1_000_000n);
    if (toNs <= fromNs) return;
    while ((source.signingSinceNs ?? toNs) < toNs) await wait(SIGNING_POLL_MS);
    await source.durable();
    const entry = await ledger.nextEntry(BigInt(source.epoch), fromNs, toNs);
    if (!source.isOver) await this.#append(source, 'batch', entry);
  }

  #isPublishingDue(): boolean {
    const { publisher, nowMs } = this.#options;
    if (nowMs() < this.#retryMs) return false;
    return publisher.due !== undefined || (nowMs() >= this.#nextCheckpointMs && publisher.mayReplace);
  }

  /**
   * Stops the log only if this node still leads. The witnesses may know the next leader's trees before this node knows that its lead is
   * over. So this node first writes the last batch to the log of prices again, which only a leader can do.
   */
  async #whileLeading(source: BatchSource, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      const { last } = this.#options.ledger;
      if (error instanceof LedgerStopped && last !== undefined)
        await source.append('batch', formatBatchEntry(last));
      throw error;
    }
  }

  /** Signs a checkpoint over all batches when it is due, and publishes checkpoints with the witnesses' cosignatures. */
  async #publish(source: BatchSource): Promise<void> {
    const { ledger, publisher, checkpointMs, nowMs } = this.#options;
    // Only then does a new leader know the last tree of the previous leader.
    await this.#followed.settled;
    await this.#followed.requireComplete();
    publisher.requireNoLoss();
    // A cosigned checkpoint is published before the next checkpoint replaces it.
    await this.#publishDue(source);
    if (ledger.last === undefined || nowMs() < this.#nextCheckpointMs || !publisher.mayReplace) return;
    if (!(await publisher.confirm())) return;
    this.#nextCheckpointMs = nowMs() + checkpointMs;
    if (source.doubt !== undefined) throw new Error(source.doubt);
    const head = await this.#appendHead(source);
    if (this.#stopped !== undefined || source.isOver) return;
    await publisher.offer(head);
    await this.#publishDue(source);
  }

  /**
   * Writes the tree of all batches so far to the log of prices. All nodes know the tree before it is signed, so the next leader continues
   * it. No batch is between the tree and its place in the log of prices, so all nodes write the same files.
   */
  async #appendHead(source: BatchSource): Promise<TreeHead> {
    const { ledger } = this.#options;
    this.#isNaming = true;
    try {
      await this.#closing;
      await this.#followed.settled;
      const head = await ledger.seal();
      await this.#append(
        source,
        'head',
        Buffer.from(formatCheckpoint({ origin: this.facts.origin, ...head })),
      );
      return head;
    } finally {
      this.#isNaming = false;
    }
  }

  async #publishDue(source: BatchSource): Promise<void> {
    const { publisher } = this.#options;
    const note = publisher.due;
    if (note !== undefined) await this.#append(source, 'checkpoint', Buffer.from(note));
  }

  /** Logs once that a quorum was missing during the whole grace period, and once that the quorum has returned. */
  #tellQuorum(): void {
    const { publisher, logger } = this.#options;
    const isLacking = publisher.isGraceOver;
    if (isLacking === this.#lacksQuorum) return;
    this.#lacksQuorum = isLacking;
    if (isLacking) logger.error('the checkpoints of the public log lack the quorum of the witnesses');
    else logger.info('the checkpoints of the public log have the quorum of the witnesses again');
  }

  /** Waits for work on the log. A fork stops the log permanently; after any other error, the work is tried again. */
  async #attempt(work: Promise<void>): Promise<void> {
    const { logger, nowMs } = this.#options;
    try {
      await work;
      if (this.#failure !== undefined) logger.info('the public log goes on');
      this.#failure = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof LedgerStopped) {
        this.#stopped = `the public log has stopped: ${message}`;
        logger.error(this.#stopped);
        await this.#options.onStopped(this.#stopped).catch(() => {});
        await this.#options.publisher.stopAsking();
        return;
      }
      if (this.#source?.isOver !== false) return;
      if (this.#failure === undefined) logger.error(`the public log waits: ${message}`);
      this.#failure = `the public log waits: ${message}`;
      this.#nextBatchMs = nowMs() + RETRY_MS;
      this.#retryMs = nowMs() + RETRY_MS;
    }
  }
}
