import type { Bus, LogPosition, LogRecord } from '../bus.js';
import type { ClusterTiming } from '../timing.js';
import { decodeLogBatch, type LogBatch } from './log_batch.js';

export interface LogFollowerOptions {
  readonly bus: Pick<Bus, 'read' | 'extent' | 'onCommitted'>;
  /** The last record that this node has applied. */
  readonly position: LogPosition;
  /** Takes the next record of the log. */
  readonly apply: (batch: LogBatch, position: LogPosition) => void;
  /** Called once: the end of the log was reached. All that was in it when following began has been applied. */
  readonly caughtUp: () => void;
  /** The log no longer has the record after the position. It goes on at this one. */
  readonly missing: (firstSequence: number) => void;
  /** This log cannot be followed. Nothing is applied any more. */
  readonly broken: (reason: string) => void;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'retryMs' | 'regressedMs'>;
  /** Milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
}

/** Applies the records of the log in order, each once: as they are committed, and by reading where one is missing. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  #position: LogPosition;
  /** The greatest sequence that the log is known to have. */
  #endSequence: number;
  /** Of the records applied; unknown before the first. */
  #epoch: number | undefined;
  #isCaughtUp = false;
  #appliedMs: number;
  #readMs: number;
  /** When to read again; `undefined` when only silence calls for it. */
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

  /** When the last record was applied, or following began. */
  get appliedMs(): number {
    return this.#appliedMs;
  }

  /** Records that the log is known to have and that are not applied. */
  get lag(): number {
    return Math.max(0, this.#endSequence - this.#position.sequence);
  }

  /** The end of the log was reached once, and nothing later is known. */
  get isCaughtUp(): boolean {
    return this.#isCaughtUp && this.lag === 0;
  }

  /** A record that was committed: it is applied, or read in its order. */
  offer(record: LogRecord): void {
    if (this.#isStopped || record.sequence <= this.#position.sequence) return;
    this.#endSequence = Math.max(this.#endSequence, record.sequence);
    if (record.sequence === this.#position.sequence + 1) this.#apply(record);
    else void this.catchUp();
  }

  /** Resolves when the log has been read to its end as some server knows it, or none answered. */
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

  /** Silence may mean that the last record was lost on its way here. */
  nextDueMs(): number {
    if (this.#reading !== undefined) return Number.POSITIVE_INFINITY;
    return this.#againMs ?? Math.max(this.#appliedMs, this.#readMs) + this.#options.timing.leaseMs;
  }

  /** @returns whether what was applied reaches to the end that the log had */
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

  /** What is committed meanwhile is applied as it comes: to read until nothing is left would have no end in a busy log. */
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

  /** A log that ends before what was applied is read again: a server may lag. After a while it has lost records. */
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

  /** Old records are deleted; a node that was away for longer goes on with those that are left. */
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

  /** What shows that two wrote the log at a time, or that this is another log than before. */
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
