import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Ledger, LedgerStopped } from '../ledger/ledger.js';
import { recordMaker } from '../ledger/record_of_aggregate.js';
import type { PublicLogFacts } from '../model/node_list.js';
import type { Holding } from '../records/second_record.js';
import type { CheckpointPublisher } from './checkpoint_publisher.js';

/** The maker of prices, while this node makes prices. */
export interface BatchSource {
  /** The epoch of the leader; 0 without a cluster. */
  readonly epoch: number;
  /** True when another node may make prices. */
  readonly isOver: boolean;
  /** Ends the period that the clock has left, and returns the end of that period. All later aggregates have later times. */
  endPeriod(periodNs: bigint): bigint;
  /** The earliest time of the aggregates whose signing is in progress; `undefined` without such aggregates. */
  readonly signingSinceNs: bigint | undefined;
  /** Resolves when all aggregates signed so far are in the log of prices and applied. */
  durable(): Promise<void>;
  /** Writes the entry of a batch to the log of prices. Resolves when this node has applied the entry. */
  append(entry: Uint8Array): Promise<void>;
}

export interface PublicLogOptions {
  readonly ledger: Ledger;
  readonly publisher: CheckpointPublisher;
  readonly facts: PublicLogFacts;
  readonly batchNs: bigint;
  readonly checkpointMs: number;
  /** Notes on the disk that the log has stopped. */
  readonly onStopped: (reason: string) => Promise<void>;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export interface PublicLogFigures {
  /** The number of batches. */
  readonly size: bigint;
  /** The time since the last checkpoint was published; `undefined` before the first checkpoint. */
  readonly checkpointAgeMs: number | undefined;
  /** The number of witnesses that cosigned the published checkpoint. */
  readonly witnesses: number;
  readonly hasQuorum: boolean;
  readonly isStopped: boolean;
}

/** The interval of checks for the end of signing. */
const SIGNING_POLL_MS = 5;
/** The delay after a failed batch or checkpoint. */
const RETRY_MS = 1_000;

/** The public log as the service uses it. */
export type OpenLog = Pick<PublicLog, keyof PublicLog>;

/** Writes the public log of this node. Closes batches while the node makes prices, and publishes checkpoints over these batches. */
export class PublicLog {
  readonly #options: PublicLogOptions;
  readonly #recordOf = recordMaker();
  #source: BatchSource | undefined;
  #fromNs = 0n;
  #nextBatchMs = 0;
  #nextCheckpointMs = 0;
  /** The earliest time of the next attempt after a failed checkpoint. */
  #retryMs = 0;
  #closing: Promise<void> | undefined;
  #publishing: Promise<void> | undefined;
  #publishedAtMs: number | undefined;
  #lacksQuorum = false;
  #stopped: string | undefined;
  #failure: string | undefined;

  constructor(options: PublicLogOptions) {
    this.#options = options;
  }

  get facts(): PublicLogFacts {
    return this.#options.facts;
  }

  /** The end of the last batch. The node signs further aggregates only with later times. */
  get endNs(): bigint {
    return this.#options.ledger.last?.toNs ?? 0n;
  }

  /** Notes a record of the log of prices. */
  record(holding: Holding): void {
    if (holding.state === 'priced' && this.#stopped === undefined)
      this.#options.ledger.add(this.#recordOf(holding.aggregate));
  }

  /** Applies the entry of a batch from the log of prices. */
  async apply(entry: Uint8Array): Promise<void> {
    if (await this.#options.ledger.apply(entry)) return;
    throw new LedgerStopped('the entry of a batch does not follow the batches of this node');
  }

  /** Begins to close batches of this maker of prices. */
  lead(source: BatchSource): void {
    this.#source = source;
    this.#fromNs = source.endPeriod(this.#options.batchNs);
    this.#nextBatchMs = this.#options.nowMs();
  }

  tick(): void {
    const source = this.#source;
    const { nowMs } = this.#options;
    if (source === undefined || this.#stopped !== undefined) return;
    if (source.isOver) {
      this.#source = undefined;
      return;
    }
    if (nowMs() >= this.#nextBatchMs)
      this.#closing ??= this.#attempt(this.#closeBatch(source)).finally(() => {
        this.#closing = undefined;
      });
    this.#tellQuorum();
    if (this.#isPublishingDue())
      this.#publishing ??= this.#attempt(this.#publish()).finally(() => {
        this.#publishing = undefined;
      });
  }

  /** Returns the reasons why the log does not continue. */
  troubles(): readonly string[] {
    return [this.#stopped, this.#failure].flatMap((reason) => (reason === undefined ? [] : [reason]));
  }

  figures(): PublicLogFigures {
    const { ledger, publisher, nowMs } = this.#options;
    return {
      size: ledger.sealed.size,
      checkpointAgeMs: this.#publishedAtMs === undefined ? undefined : nowMs() - this.#publishedAtMs,
      witnesses: publisher.cosigners,
      hasQuorum: !publisher.isGraceOver,
      isStopped: this.#stopped !== undefined,
    };
  }

  /**
   * Resolves when all records so far are on disk. The journal of the store waits for this, so the public log has all records of each
   * commit.
   */
  write(): Promise<void> {
    return this.#options.ledger.flush();
  }

  async close(): Promise<void> {
    this.#source = undefined;
    await this.#closing;
    await this.#publishing;
    await this.#options.publisher.stopAsking();
    await this.#options.ledger.close();
  }

  async #closeBatch(source: BatchSource): Promise<void> {
    const { ledger, batchNs, nowMs } = this.#options;
    const startMs = nowMs();
    const toNs = source.endPeriod(batchNs);
    const fromNs = ledger.last?.toNs ?? this.#fromNs;
    // A clock that stands still or goes back ends no period.
    this.#nextBatchMs = startMs + Number(batchNs / 1_000_000n);
    if (toNs <= fromNs) return;
    while ((source.signingSinceNs ?? toNs) < toNs) await wait(SIGNING_POLL_MS);
    await source.durable();
    const entry = await ledger.nextEntry(BigInt(source.epoch), fromNs, toNs);
    if (!source.isOver) await source.append(entry);
  }

  #isPublishingDue(): boolean {
    const { publisher, nowMs } = this.#options;
    if (nowMs() < this.#retryMs) return false;
    return publisher.isDue || (nowMs() >= this.#nextCheckpointMs && publisher.mayReplace);
  }

  /** Signs a checkpoint over all batches at the due time, and publishes checkpoints with the witnesses' cosignatures. */
  async #publish(): Promise<void> {
    const { ledger, publisher, checkpointMs, nowMs } = this.#options;
    publisher.requireNoLoss();
    // A cosigned checkpoint is published before the next checkpoint replaces it.
    await this.#publishDue();
    if (ledger.last === undefined || nowMs() < this.#nextCheckpointMs || !publisher.mayReplace) return;
    if (!(await publisher.confirm())) return;
    this.#nextCheckpointMs = nowMs() + checkpointMs;
    await publisher.offer(await ledger.seal());
    await this.#publishDue();
  }

  async #publishDue(): Promise<void> {
    const { publisher, nowMs } = this.#options;
    if (!publisher.isDue) return;
    await publisher.publish();
    this.#publishedAtMs = nowMs();
  }

  /** Logs once that the quorum was missing during the whole grace period. Also logs when the quorum has returned. */
  #tellQuorum(): void {
    const { publisher, logger } = this.#options;
    const isLacking = publisher.isGraceOver;
    if (isLacking === this.#lacksQuorum) return;
    this.#lacksQuorum = isLacking;
    if (isLacking) logger.error('the checkpoints of the public log lack the quorum of the witnesses');
    else logger.info('the checkpoints of the public log have the quorum of the witnesses again');
  }

  /** Waits for work on the log. A fork stops the log permanently. After any other error, the log tries again. */
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
