import type { Bus, LogPosition, LogRecord } from '../bus.js';
import type { ClusterTiming } from '../timing.js';
import { decodeLogBatch, type LogBatch } from './log_batch.js';

export interface LogFollowerOptions {
  readonly bus: Pick<Bus, 'read' | 'extent' | 'onCommitted'>;
  /** The last record that this node has applied. */
  readonly position: LogPosition;
  /** Called with the next record of the log. */
  readonly apply: (batch: LogBatch, position: LogPosition) => void;
  /** Called once, when all records have been applied that the log had when following began. */
  readonly caughtUp: () => void;
  /** Called when the record after the position was deleted from the log. Following continues at this sequence. */
  readonly missing: (firstSequence: number) => void;
  /** Called when this log cannot be followed. After this call no record is applied. */
  readonly broken: (reason: string) => void;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'retryMs' | 'regressedMs'>;
  /** Returns milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
}

/**
 * Applies the records of the log in order, each record once. A record is applied when it is committed. Missing records are read from
 * the log.
 */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  #position: LogPosition;
  /** The highest known sequence of the log. */
  #endSequence: number;
  /** The epoch of the applied records; `undefined` before the first record. */
  #epoch: number | undefined;
  #isCaughtUp = false;
  #appliedMs: number;
  #readMs: number;
  /** The time of the next read; `undefined` if a read is only needed after a silence. */
  #againMs: number | undefined;
  #reading: Promise<void> | undefined;
  #regressedSinceMs: number | undefined;
  #stopListening: (() => void) | undefined;
  #isStopped = false;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
    this.#position = options.position;
    this.#endSequence = options.position.sequence;
    this.#appliedMs = options.nowMs();
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

  /** The time at which the last record was applied, or at which following began. */
  get appliedMs(): number {
    return this.#appliedMs;
  }

  /** The number of records that are known to be in the log and are not applied yet. */
  get lag(): number {
    return Math.max(0, this.#endSequence - this.#position.sequence);
  }

  /** True if the log was read to its end at least once and no later record is known. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp && this.lag === 0;
  }

  /** Receives a committed record. Applies the record at once if it is the next record; otherwise reads the records before it. */
  offer(record: LogRecord): void {
    if (this.#isStopped || record.sequence <= this.#position.sequence) return;
    this.#endSequence = Math.max(this.#endSequence, record.sequence);
    if (record.sequence === this.#position.sequence + 1) this.#apply(record);
    else void this.catchUp();
  }

  /** Resolves when the log has been read to the end that a server knows, or when no server answered. */
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

  /**
   * Returns the time of the next read. A read follows a silence, because the last record may have been lost on its way to this node.
   */
  nextDueMs(): number {
    if (this.#reading !== undefined) return Number.POSITIVE_INFINITY;
    return this.#againMs ?? Math.max(this.#appliedMs, this.#readMs) + this.#options.timing.leaseMs;
  }

  /** @returns true when all records are applied that the log had when the read began */
  async #read(): Promise<boolean> {
    const { bus, nowMs, timing } = this.#options;
    this.#readMs = nowMs();
    this.#againMs = undefined;
    try {
      const known = this.#position;
      const { last } = await bus.extent();
      this.#endSequence = Math.max(this.#endSequence, last.sequence);
      await this.#readToEnd();
      if (this.lag > 0) this.#againMs = nowMs() + timing.retryMs;
      this.#compareEnd(known, last);
      return this.#position.sequence >= last.sequence;
    } catch {
      this.#againMs = nowMs() + timing.retryMs;
      await this.#compareBeginning().catch(() => {});
      return false;
    }
  }

  /**
   * Reads to the end that the log had at the beginning. Records that are committed during the read are applied when they arrive,
   * because in a busy log a read up to the newest record would never end.
   */
  async #readToEnd(): Promise<void> {
    let before: number;
    do {
      before = this.#position.sequence;
      for (const record of await this.#options.bus.read(before)) this.offer(record);
    } while (!this.#isStopped && this.#position.sequence > before && this.lag > 0);
  }

  #reachedEnd(): void {
    if (this.#isCaughtUp || this.#isStopped) return;
    this.#isCaughtUp = true;
    this.#options.caughtUp();
  }

  /**
   * Compares the end of the log with the applied records. If the log ends before the last applied record, it is read again, because the
   * server may lag. After some time the log is treated as a log that has lost records.
   */
  #compareEnd(known: LogPosition, last: LogPosition): void {
    const { nowMs, timing } = this.#options;
    const isOther =
      last.sequence === known.sequence && last.id !== known.id && last.id !== '' && known.id !== '';
    if (last.sequence >= known.sequence && !isOther) {
      this.#regressedSinceMs = undefined;
      return;
    }
    this.#regressedSinceMs ??= nowMs();
    this.#againMs = nowMs() + timing.retryMs;
    if (nowMs() - this.#regressedSinceMs < timing.regressedMs) return;
    this.#break(
      `the log has lost records: it ends with ${last.sequence} (${last.id}), and this node has applied ${known.sequence} (${known.id})`,
    );
  }

  /**
   * Compares the beginning of the log with the applied records. The servers delete old records. A node that was away for longer
   * continues with the remaining records.
   */
  async #compareBeginning(): Promise<void> {
    const { firstSequence } = await this.#options.bus.extent();
    if (this.#isStopped || firstSequence <= this.#position.sequence + 1) return;
    this.#position = { sequence: firstSequence - 1, id: '' };
    this.#epoch = undefined;
    this.#endSequence = Math.max(this.#endSequence, firstSequence - 1);
    this.#againMs = this.#options.nowMs();
    this.#options.missing(firstSequence);
  }

  #apply(record: LogRecord): void {
    const { sequence, id } = record;
    try {
      const batch = decodeLogBatch(record.bytes);
      const wrong = this.#wrongIn(batch, sequence);
      if (wrong !== undefined) {
        this.#break(`record ${sequence} of the log ${wrong}`);
        return;
      }
      this.#epoch = batch.epoch;
      this.#position = { sequence, id };
      this.#appliedMs = this.#options.nowMs();
      this.#options.apply(batch, this.#position);
    } catch (error) {
      this.#break(`record ${sequence} of the log cannot be applied: ${(error as Error).message}`);
    }
  }

  /** Returns a fault that shows that the log had two writers at the same time, or that it is a different log than before. */
  #wrongIn({ epoch, after, claim }: LogBatch, sequence: number): string | undefined {
    const { id } = this.#position;
    if (after !== '' && id !== '' && after !== id)
      return `follows record ${after}, and this node has applied ${id} before it`;
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
