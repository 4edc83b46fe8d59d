import type { Bus, LogPosition, LogRecord } from '../bus.js';
import { BEATS_PER_LEASE, type ClusterTiming } from '../timing.js';
import { BATCH_BYTES_MAX, type Claim, ENTRY_BYTES_MAX, entryBytes, type LogEntry } from './log_batch.js';
import { chainedRecord } from './record_chain.js';

/**
 * The largest total size of entries that wait to be written. A node with more waiting entries cannot reach the log, so another node must
 * lead.
 */
export const WAITING_BYTES_MAX = 64 * 1024 * 1024;

export interface LogWriterOptions {
  readonly bus: Pick<Bus, 'append'>;
  /** The follower of the log. A write of this node takes effect when the follower applies it. */
  readonly follower: {
    readonly position: LogPosition;
    /** The ID of the last applied record. */
    readonly lastId: string;
    offer(record: LogRecord): void;
    catchUp(): Promise<void>;
  };
  readonly epoch: number;
  /** The time at which this node sent the claim of this epoch. */
  readonly claimedMs: number;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'retryMs'>;
  readonly nowMs: () => number;
  /** Calls the function after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  /** Called when the servers refuse a write, or when the outcome of a write is unknown. */
  readonly failed: () => void;
  /** Called when more than {@link WAITING_BYTES_MAX} bytes wait. */
  readonly overflowed: () => void;
}

interface Write {
  readonly record: LogRecord;
  readonly entries: readonly LogEntry[];
  readonly claim: Claim | undefined;
  readonly sentMs: number;
  /** The number of entries of this epoch up to and including this write. */
  readonly entryCount: number;
}

interface AppendWaiter {
  readonly entryCount: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Thrown when the node no longer leads. Waiting entries may be lost. */
export class LeadershipLost extends Error {
  override readonly name = 'LeadershipLost';
}

/**
 * Writes the log during one epoch. Only one write is in progress at a time; meanwhile, entries accumulate. With two simultaneous writes,
 * the first could be lost and the second accepted after another node's claim.
 *
 * A write with an unknown outcome is sent again, unchanged, until the log shows the write or another record in its place. Writing ends
 * after another node's claim. After a record that all nodes skip, the write continues at the next position.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  #waiting: LogEntry[] = [];
  /** The entry number of the waiting input, by asset and publisher. The entries of an epoch are numbered from 1. */
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

  /** The time at which the newest acknowledged write was sent. No other node had claimed the lead before that time. */
  get acknowledgedSentMs(): number {
    return this.#acknowledgedSentMs;
  }

  /**
   * Appends an entry. A new input replaces a waiting input of the same publisher and asset, because the new input contains everything that
   * the older input contained. Aggregates of both inputs stay behind the replaced entry.
   * @throws RangeError when the entry is larger than {@link ENTRY_BYTES_MAX}
   */
  append(entry: LogEntry): void {
    const bytes = entryBytes(entry);
    if (bytes > ENTRY_BYTES_MAX)
      throw new RangeError(
        `an entry of ${entry.symbol} has ${bytes} bytes; the log takes ${ENTRY_BYTES_MAX} at most`,
      );
    if (this.#isOver || this.#last !== undefined) return;
    this.#waitingBytes += bytes;
    if (!this.#replaceQueued(entry)) {
      this.#waiting.push(entry);
      this.#entryCount++;
    }
    if (this.#waitingBytes > WAITING_BYTES_MAX) this.#options.overflowed();
    else this.#continueLater();
  }

  /** @returns true when an older waiting input was replaced */
  #replaceQueued(entry: LogEntry): boolean {
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

  /**
   * Resolves when the log has all entries that were appended before the call.
   * @throws LeadershipLost when it is unknown whether the log has the entries
   */
  durable(): Promise<void> {
    if (this.#isOver) return Promise.reject(leadershipLost());
    if (this.#write === undefined && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ entryCount: this.#entryCount, resolve, reject });
    });
  }

  /** Writes the waiting entries, then this claim. The claim is the last write. */
  finish(claim: Claim): void {
    this.#last ??= claim;
    this.#continue();
  }

  /** Notes that a record of this epoch has been applied. */
  applied({ id }: LogPosition): void {
    const write = this.#write;
    if (write === undefined || write.record.id !== id) return;
    this.#write = undefined;
    this.#retryMs = undefined;
    this.#acknowledgedSentMs = write.sentMs;
    while (this.#waiters.length > 0 && this.#waiters[0]!.entryCount <= write.entryCount)
      this.#waiters.shift()!.resolve();
    this.#continueLater();
  }

  /** Stops writing, because another node leads or this node has given up. */
  stop(): void {
    this.#isOver = true;
    this.#waiting = [];
    for (const { reject } of this.#waiters.splice(0)) reject(leadershipLost());
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

  /** Continues at the end of the turn, so that one write takes all entries of one turn of the event loop. */
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
    const entries = this.#takeBatch();
    const claim = this.#waiting.length === 0 ? this.#last : undefined;
    this.#write = {
      record: this.#recordOf(entries, claim),
      entries,
      claim,
      sentMs: this.#options.nowMs(),
      entryCount: this.#entryCount - this.#waiting.length,
    };
    this.#send();
  }

  #recordOf(entries: readonly LogEntry[], claim: Claim | undefined): LogRecord {
    const { follower, epoch } = this.#options;
    const sequence = follower.position.sequence + 1;
    return chainedRecord({ epoch, sequence, after: follower.lastId, claim, entries });
  }

  /** Takes the next entries that fit in one record; at least one, if any entries wait. */
  #takeBatch(): LogEntry[] {
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
    const { bus, follower, nowMs } = this.#options;
    const after = follower.position;
    let write = this.#write!;
    // A record that all nodes skip may have taken the write's position. The servers then never accept the write there.
    if (write.record.sequence !== after.sequence + 1)
      this.#write = write = { ...write, record: this.#recordOf(write.entries, write.claim) };
    const { record } = write;
    this.#retryMs = undefined;
    this.#sentMs = nowMs();
    bus.append(after, record.id, record.bytes).then(
      (sequence) => {
        if (sequence === record.sequence) follower.offer(record);
        else this.#resolveDoubt(write);
      },
      () => this.#resolveDoubt(write),
    );
  }

  /**
   * Reads the log to learn whether the log has the write. A lagging server may not have the write yet, so the write is sent again
   * unchanged.
   */
  #resolveDoubt(write: Write): void {
    if (this.#isOver || this.#write !== write) return;
    const { failed, follower, nowMs, timing } = this.#options;
    failed();
    follower.catchUp().then(() => {
      if (!this.#isOver && this.#write === write) this.#retryMs = nowMs() + timing.retryMs;
    });
  }
}

/** @returns the key of an input; `undefined` for a record of an asset */
function inputKey({ symbol, signatureType, publisherKey }: LogEntry): string | undefined {
  if (publisherKey === undefined) return undefined;
  return `${signatureType} ${Buffer.from(publisherKey).toString('latin1')} ${symbol}`;
}

function leadershipLost(): LeadershipLost {
  return new LeadershipLost('the node no longer leads: it is not known whether the log has it');
}
