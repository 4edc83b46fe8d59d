import { type LogPosition, type LogRecord, RecordsMissing } from '../bus.js';
import { LastingFault } from './lasting_fault.js';
import type { LogBatch } from './log_batch.js';
import type { LogFollowerOptions } from './log_follower_options.js';
import { lostRecordsText, WITHOUT_THEM } from './lost_records.js';
import { RecentRecords } from './recent_records.js';
import { BrokenChain, RecordChain, type RecordFault } from './record_chain.js';

/**
 * The number of attempts to read a record that does not fit the chain. Each attempt asks the next server, which may have a sound copy. A
 * server may lag, and a silence changes the server too, so a record that looks damaged needs several rounds of all servers.
 */
const CHAIN_READS = 3;
const DAMAGED_READS = 9;

/** Applies the committed records of the log in order, each record once. Reads missing records from the log. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  readonly #chain: RecordChain;
  /** The newest records; empty on a node that may not write to the log. */
  readonly #recent = new RecentRecords();
  /** The number of attempts so far in which the next record did not fit the chain. */
  #chainReads = 0;
  #position: LogPosition;
  /** The highest known sequence of the log. */
  #endSequence: number;
  /** The epoch of the applied records; `undefined` before the first record. */
  #epoch: number | undefined;
  #isCaughtUp = false;
  #appliedMs: number;
  #readMs: number;
  /** The time of the next read; `undefined` if a read is needed only after a silence. */
  #againMs: number | undefined;
  #reading: Promise<void> | undefined;
  /** The fault of a log that ends before the last known record, or that has a different record in its place. */
  readonly #lostEnd: LastingFault;
  /** The fault of a log that lacks a record in the middle. */
  readonly #hole: LastingFault;
  #stopListening: (() => void) | undefined;
  #isStopped = false;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    const { nowMs, timing } = options;
    this.#lostEnd = new LastingFault(nowMs, timing.regressedMs);
    this.#hole = new LastingFault(nowMs, timing.regressedMs);
    this.#position = options.position;
    this.#chain = new RecordChain(options.position.id);
    this.#endSequence = options.position.sequence;
    this.#appliedMs = nowMs();
    this.#readMs = this.#appliedMs;
  }

  start(): void {
    this.#stopListening = this.#options.bus.onCommitted((record) => this.offer(record));
    void this.catchUp();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopListening?.();
  }

  get position(): LogPosition {
    return this.#position;
  }

  /** The ID of the last applied record; empty if unknown. The record at {@link position} can be a later record that was skipped. */
  get lastId(): string {
    return this.#chain.lastId;
  }

  /** The number of records that had no effect because they did not fit the chain. */
  get skippedCount(): number {
    return this.#chain.skippedCount;
  }

  /** The time at which the last record was applied; before the first record, the start time of this follower. */
  get appliedMs(): number {
    return this.#appliedMs;
  }

  /** The number of known records of the log that this node has not applied yet. */
  get lag(): number {
    return Math.max(0, this.#endSequence - this.#position.sequence);
  }

  /** True while this node knows of records that it has not applied. The log still has these records or has lost them. */
  get isBehind(): boolean {
    return this.#knownEnd > this.#position.sequence;
  }

  /** True if this node has read to the log's end at least once and knows of no later record. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp && this.lag === 0;
  }

  /** Applies a committed record immediately. Reads the log instead if earlier records are missing or the record looks damaged. */
  offer(record: LogRecord): void {
    if (this.#isStopped || record.sequence <= this.#position.sequence) return;
    this.#endSequence = Math.max(this.#endSequence, record.sequence);
    const isNext = record.sequence === this.#position.sequence + 1;
    if (!isNext || this.#apply(record) !== undefined) void this.catchUp();
  }

  /** Resolves when this node has read the log to the end that a server reports, or when no server has answered. */
  catchUp(): Promise<void> {
    this.#reading ??= this.#read()
      .then((isAtEnd) => {
        if (isAtEnd) this.#reachedEnd();
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  tick(nowMs: number): void {
    if (!this.#isStopped && nowMs >= this.nextDueMs()) void this.catchUp();
  }

  /** Returns the time of the next read. The node also reads after a silence, because a message with the last record may be lost. */
  nextDueMs(): number {
    if (this.#reading !== undefined) return Number.POSITIVE_INFINITY;
    return this.#againMs ?? Math.max(this.#appliedMs, this.#readMs) + this.#options.timing.leaseMs;
  }

  /** @returns true when this node has applied all records that the log had when the read began */
  async #read(): Promise<boolean> {
    const { bus, nowMs, timing } = this.#options;
    this.#readMs = nowMs();
    this.#againMs = undefined;
    try {
      const known = this.#position;
      const knownEnd = this.#knownEnd;
      const { last } = await bus.extent();
      this.#endSequence = Math.max(this.#endSequence, last.sequence);
      await this.#readToEnd();
      if (this.lag > 0) this.#againMs = nowMs() + timing.retryMs;
      this.#compareEnd(known, knownEnd, last);
      // A log that ends before the applied records may be a stale copy with a wrong end.
      return !this.#lostEnd.isThere && this.#position.sequence >= last.sequence;
    } catch (error) {
      this.#againMs = nowMs() + timing.retryMs;
      const isMissing = error instanceof RecordsMissing;
      await this.#compareBeginning(isMissing ? error.message : undefined).catch(() => {});
      return false;
    }
  }

  /**
   * Reads to the end that the log had when the read began. Records that are committed during the read arrive through {@link offer}. In a
   * busy log, a read up to the newest record would never end.
   */
  async #readToEnd(): Promise<void> {
    let before: number;
    do {
      before = this.#position.sequence;
      const records = await this.#options.bus.read(before);
      for (const record of records) {
        if (this.#isStopped || record.sequence !== this.#position.sequence + 1) continue;
        const fault = this.#apply(record);
        if (fault !== undefined) await this.#skip(record, fault);
      }
      this.#hole.gone();
    } while (!this.#isStopped && this.#position.sequence > before && this.lag > 0);
  }

  #reachedEnd(): void {
    if (this.#isCaughtUp || this.#isStopped) return;
    this.#isCaughtUp = true;
    this.#options.caughtUp();
  }

  get #knownEnd(): number {
    return Math.max(this.#position.sequence, this.#endSequence, this.#options.reportedEnd());
  }

  /**
   * Compares the log's end with the known records. If the log ends before the last known record, the server may lag, so this node reads
   * again. If this lasts, the node concludes that the log has lost records.
   */
  #compareEnd(known: LogPosition, knownEnd: number, last: LogPosition): void {
    const { nowMs, timing } = this.#options;
    const isOther =
      last.sequence === known.sequence && last.id !== known.id && last.id !== '' && known.id !== '';
    if (last.sequence >= knownEnd && !isOther) {
      this.#lostEnd.gone();
      return;
    }
    this.#againMs = nowMs() + timing.retryMs;
    const { bus, restored } = this.#options;
    if (restored !== undefined) this.#recent.bringBack(bus, last, restored);
    if (this.#lostEnd.seen()) this.#break(lostRecordsText(last, known, knownEnd));
  }

  /**
   * Compares the log's beginning with the applied records. The servers delete old records, and a node that was away for longer continues
   * with the remaining records.
   * @param hole the message about the records that a server reported missing
   */
  async #compareBeginning(hole: string | undefined): Promise<void> {
    const { bus } = this.#options;
    const { firstSequence } = await bus.extent();
    if (this.#isStopped) return;
    if (firstSequence <= this.#position.sequence + 1) {
      if (hole === undefined) return;
      if (!this.#hole.isThere) this.#options.faulty('damaged copy', hole);
      if (++this.#chainReads % CHAIN_READS === 0) bus.reconnect();
      if (this.#hole.seen()) this.#break(`${hole}${WITHOUT_THEM}`);
      return;
    }
    this.#position = { sequence: firstSequence - 1, id: '' };
    this.#chain.restart();
    this.#recent.clear();
    this.#epoch = undefined;
    this.#endSequence = Math.max(this.#endSequence, firstSequence - 1);
    this.#againMs = this.#options.nowMs();
    this.#options.missing(firstSequence);
  }

  /** @returns the fault of a record that does not fit the chain and was not applied */
  #apply(record: LogRecord): RecordFault | undefined {
    const { sequence, id } = record;
    try {
      const batch = this.#chain.read(record);
      if ('fault' in batch) return batch;
      const wrong = this.#wrongIn(batch, sequence);
      if (wrong !== undefined) {
        this.#break(`record ${sequence} of the log ${wrong}`);
        return undefined;
      }
      this.#chainReads = 0;
      this.#chain.add(id);
      if (this.#options.restored !== undefined) this.#recent.add(record, this.#position);
      this.#epoch = batch.epoch;
      this.#position = { sequence, id };
      this.#appliedMs = this.#options.nowMs();
      this.#options.apply(batch, this.#position);
    } catch (error) {
      const goOn = error instanceof BrokenChain ? WITHOUT_THEM : '';
      this.#break(`record ${sequence} of the log cannot be applied: ${(error as Error).message}${goOn}`);
    }
    return undefined;
  }

  /** @throws Error as long as another server may have a sound copy of the record */
  async #skip(record: LogRecord, { fault, isDamage }: RecordFault): Promise<void> {
    const { sequence, id } = record;
    const reason = `record ${sequence} of the log ${fault}`;
    if (isDamage === true && this.#chainReads === 0) this.#options.faulty('damaged copy', reason);
    if (++this.#chainReads < (isDamage === true ? DAMAGED_READS : CHAIN_READS)) {
      this.#options.bus.reconnect();
      throw new Error(reason);
    }
    await this.#checkLastApplied();
    this.#chainReads = 0;
    this.#chain.skip(record, fault);
    // Lost records can be restored only together with the skipped records between them.
    if (this.#options.restored !== undefined) this.#recent.add(record, this.#position);
    this.#position = { sequence, id };
    this.#options.faulty('skipped record', reason);
  }

  /**
   * Checks that the log still has the last applied record. A record that no leader wrote does not name its predecessor, so such records can
   * hide a loss of the records before them.
   * @throws RecordsMissing when the server does not have the record
   * @throws Error when the log has a different record at that position, or when no server answers
   */
  async #checkLastApplied(): Promise<void> {
    const { bus } = this.#options;
    const applied = this.#position;
    // The servers delete old records, and nobody can compare a deleted record.
    if (applied.id === '' || (await bus.extent()).firstSequence > applied.sequence) return;
    const [found] = await bus.read(applied.sequence - 1);
    if (found?.id === applied.id) return;
    if (found === undefined) throw new RecordsMissing(`the log lacks the record ${applied.sequence}`);
    const reason = lostRecordsText(found, applied, this.#knownEnd);
    if (this.#lostEnd.seen()) this.#break(reason);
    throw new Error(reason);
  }

  /** Returns the fault of a record that shows that two nodes wrote to the log at the same time. */
  #wrongIn({ epoch, claim }: LogBatch, sequence: number): string | undefined {
    if (claim !== undefined && !claim.resign)
      return epoch === sequence ? undefined : `claims epoch ${epoch}, which is not its place`;
    return this.#epoch === undefined || epoch === this.#epoch
      ? undefined
      : `is of epoch ${epoch} in epoch ${this.#epoch}`;
  }

  #break(reason: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#options.broken(reason);
  }
}
