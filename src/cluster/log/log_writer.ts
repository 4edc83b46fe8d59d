import type { Bus, LogPosition, LogRecord } from '../bus.js';
import { BEATS_PER_LEASE, type ClusterTiming } from '../timing.js';
import {
  BATCH_BYTES_MAX,
  type Claim,
  ENTRY_BYTES_MAX,
  encodeLogBatch,
  entryBytes,
  type LogEntry,
} from './log_batch.js';

/** What may wait to be written. A log that takes nothing for so long is led by someone who can reach it. */
export const WAITING_BYTES_MAX = 64 * 1024 * 1024;

export interface LogWriterOptions {
  readonly bus: Pick<Bus, 'append'>;
  /** All that this node writes takes effect when it is applied. */
  readonly follower: {
    readonly position: LogPosition;
    offer(record: LogRecord): void;
    catchUp(): Promise<void>;
  };
  readonly epoch: number;
  /** An ID that no record has. */
  readonly newId: () => string;
  /** When the claim of this epoch was sent. */
  readonly claimedMs: number;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'retryMs'>;
  readonly nowMs: () => number;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  /** A write was refused, or nobody knows what became of it. */
  readonly failed: () => void;
  /** More waits than {@link WAITING_BYTES_MAX}. */
  readonly overflowed: () => void;
}

interface Write extends LogRecord {
  readonly after: LogPosition;
  readonly sentMs: number;
  /** Entries of this epoch up to here, this write's included. */
  readonly entryCount: number;
}

interface AppendWaiter {
  readonly entryCount: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The node no longer leads, so what was to be written may be lost. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/**
 * Writes one epoch of the log. One write is under way at a time, and entries gather meanwhile: of two, the first could be lost and the
 * second be taken behind the claim of another node. A write that may be lost is sent again as it was, until it is found in the log
 * or the record of another node is.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  #waiting: LogEntry[] = [];
  /** By asset and publisher: the number of the input that waits, where entries of this epoch count from 1. */
  readonly #waitingInputs = new Map<string, number>();
  #waitingBytes = 0;
  #entryCount = 0;
  #write: Write | undefined;
  #sentMs: number;
  #acknowledgedSentMs: number;
  #retryMs: number | undefined;
  #waiters: AppendWaiter[] = [];
  #last: Claim | undefined;
  #isDeferred = false;
  #isOver = false;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.#sentMs = options.claimedMs;
    this.#acknowledgedSentMs = options.claimedMs;
  }

  /** When the newest write that was acknowledged was sent: nobody else had claimed then. */
  get acknowledgedSentMs(): number {
    return this.#acknowledgedSentMs;
  }

  /**
   * An input takes the place of an older one of its publisher and asset that waits: it has all that the older one had, and aggregates of
   * either stay behind it. @throws RangeError when the entry is larger than {@link ENTRY_BYTES_MAX}
   */
  append(entry: LogEntry): void {
    const bytes = entryBytes(entry);
    if (bytes > ENTRY_BYTES_MAX)
      throw new RangeError(
        `an entry of ${entry.symbol} has ${bytes} bytes; the log takes ${ENTRY_BYTES_MAX} at most`,
      );
    if (this.#isOver || this.#last !== undefined) return;
    this.#waitingBytes += bytes;
    if (!this.#replace(entry)) {
      this.#waiting.push(entry);
      this.#entryCount++;
    }
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#options.overflowed();
    else this.#continueLater();
  }

  /** @returns whether an older input that waits was replaced */
  #replace(entry: LogEntry): boolean {
    const key = inputKey(entry);
    if (key === undefined) return false;
    const number = this.#waitingInputs.get(key);
    const place = number === undefined ? -1 : number - 1 - (this.#entryCount - this.#waiting.length);
    const older = this.#waiting[place];
    if (older === undefined) {
      this.#waitingInputs.set(key, this.#entryCount + 1);
      return false;
    }
    this.#waiting[place] = entry;
    this.#waitingBytes -= entryBytes(older);
    return true;
  }

  /** Resolves when the log has all that was appended before. @throws LeadershipLost when that is not known */
  durable(): Promise<void> {
    if (this.#isOver) return Promise.reject(lost());
    if (this.#write === undefined && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ entryCount: this.#entryCount, resolve, reject });
    });
  }

  /** Writes what waits and then this, and nothing else. */
  finish(claim: Claim): void {
    this.#last ??= claim;
    this.#continue();
  }

  /** A record of this epoch has been applied. */
  applied({ id }: LogPosition): void {
    const write = this.#write;
    if (write === undefined || write.id !== id) return;
    this.#write = undefined;
    this.#retryMs = undefined;
    this.#acknowledgedSentMs = write.sentMs;
    while (this.#waiters.length > 0 && this.#waiters[0]!.entryCount <= write.entryCount)
      this.#waiters.shift()!.resolve();
    this.#continueLater();
  }

  /** Another node leads, or this one has given up: nothing more is written. */
  stop(): void {
    this.#isOver = true;
    this.#waiting = [];
    for (const { reject } of this.#waiters.splice(0)) reject(lost());
  }

  tick(nowMs: number): void {
    if (this.#isOver) return;
    if (this.#retryMs !== undefined && nowMs >= this.#retryMs) this.#send();
    else if (this.#write === undefined && nowMs >= this.#beatMs) this.#writeNext();
  }

  nextDueMs(): number {
    if (this.#isOver) return Number.POSITIVE_INFINITY;
    return this.#retryMs ?? (this.#write === undefined ? this.#beatMs : Number.POSITIVE_INFINITY);
  }

  get #beatMs(): number {
    return this.#sentMs + this.#options.timing.leaseMs / BEATS_PER_LEASE;
  }

  /** What one turn of the event loop appends goes together. */
  #continueLater(): void {
    if (this.#isDeferred || this.#write !== undefined) return;
    this.#isDeferred = true;
    this.#options.defer(() => {
      this.#isDeferred = false;
      this.#continue();
    });
  }

  #continue(): void {
    if (this.#isOver || this.#write !== undefined) return;
    if (this.#waiting.length > 0 || this.#last !== undefined) this.#writeNext();
  }

  #writeNext(): void {
    const { follower, epoch, newId, nowMs } = this.#options;
    const after = follower.position;
    const entries = this.#take();
    const claim = this.#waiting.length === 0 ? this.#last : undefined;
    this.#write = {
      after,
      sequence: after.sequence + 1,
      id: newId(),
      bytes: encodeLogBatch({ epoch, after: after.id, claim, entries }),
      sentMs: nowMs(),
      entryCount: this.#entryCount - this.#waiting.length,
    };
    this.#send();
  }

  /** The next entries that fit one record; at least one when any wait. */
  #take(): LogEntry[] {
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      bytes += entryBytes(entry);
      if (count > 0 && bytes > BATCH_BYTES_MAX) break;
      this.#waitingBytes -= entryBytes(entry);
      this.#waitingInputs.delete(inputKey(entry) ?? '');
      count++;
    }
    if (count === this.#waiting.length) {
      const all = this.#waiting;
      this.#waiting = [];
      return all;
    }
    return this.#waiting.splice(0, count);
  }

  #send(): void {
    const write = this.#write!;
    this.#retryMs = undefined;
    this.#sentMs = this.#options.nowMs();
    this.#options.bus.append(write.after, write.id, write.bytes).then(
      (sequence) => {
        if (sequence === write.sequence) this.#options.follower.offer(write);
        else this.#resolveDoubt(write);
      },
      () => this.#resolveDoubt(write),
    );
  }

  /** The log says whether the write is in it. A server that lags says too little: the write goes out again as it was. */
  #resolveDoubt(write: Write): void {
    if (this.#isOver || this.#write !== write) return;
    const { failed, follower, nowMs, timing } = this.#options;
    failed();
    follower.catchUp().then(() => {
      if (!this.#isOver && this.#write === write) this.#retryMs = nowMs() + timing.retryMs;
    });
  }
}

/** @returns `undefined` for a record of an asset */
function inputKey({ symbol, signatureType, publisherKey }: LogEntry): string | undefined {
  if (publisherKey === undefined) return undefined;
  return `${signatureType} ${Buffer.from(publisherKey).toString('latin1')} ${symbol}`;
}

function lost(): LeadershipLost {
  return new LeadershipLost('the node no longer leads: it is not known whether the log has it');
}
