import type { Logger } from 'pino';

export interface GroupCommitOptions {
  /** Writes and flushes everything that waits. After an error, the next call writes the same again. */
  readonly write: () => Promise<void>;
  /** Returns whether something waits. */
  readonly isPending: () => boolean;
  /** Returns the free space of the file system in bytes. */
  readonly freeBytes: () => number;
  /** Logs when writing begins to fail, and when it works again. */
  readonly logger?: Pick<Logger, 'error' | 'info'> | undefined;
}

/**
 * The delay before a commit when no caller waits for the commit. With a waiting caller, the commit starts immediately. With 1,000
 * assets at 2 Hz, 20 commits a second took 20 % less CPU than 50. 10 commits a second took as much as 20.
 */
const COMMIT_DELAY_MS = 50;
const RETRY_DELAY_MS_MIN = 250;
const RETRY_DELAY_MS_MAX = 1_000;
/** The longest time of a commit. A longer commit counts as a failing disk, even if the commit never ends. */
const COMMIT_MS_MAX = 10_000;

interface DurableWaiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Decides when changes are written. Changes are written in groups, one group at a time. A failed group is tried again. */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #waiters: DurableWaiter[] = [];
  #committing: { readonly startedMs: number; readonly done: Promise<void> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failing: { readonly reason: string; readonly delayMs: number } | undefined;
  #isClosed = false;
  #committedAtMs: number | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** The time of the last successful commit, in UNIX milliseconds; `undefined` before the first commit. */
  get committedAtMs(): number | undefined {
    return this.#committedAtMs;
  }

  /** Notes that something waits. A commit follows soon. */
  changed(): void {
    this.#schedule(COMMIT_DELAY_MS);
  }

  /**
   * Resolves when all changes from before this call are flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails
   */
  durable(): Promise<void> {
    if (this.#failing !== undefined) return Promise.reject(new Error(this.#failing.reason));
    if (this.#isClosed) return Promise.reject(new Error('the store is closed'));
    if (!this.#options.isPending())
      return this.#committing?.done.then(() => this.#failIfFailing()) ?? Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      // The commit starts in the next turn of the event loop, so that all calls of this turn share the commit.
      if (this.#committing === undefined && this.#waiters.length === 1) {
        this.#stopTimer();
        this.#schedule(0);
      }
    });
  }

  /** Returns the reason why writing fails; `undefined` while writing works. */
  failure(): string | undefined {
    if (this.#failing !== undefined) return this.#failing.reason;
    const commitMs = this.#committing === undefined ? 0 : performance.now() - this.#committing.startedMs;
    return commitMs > COMMIT_MS_MAX
      ? `the data folder cannot be written: a commit has been waiting for ${Math.round(commitMs / 1000)} s`
      : undefined;
  }

  /** Writes what waits and stops. @throws Error when the last commit failed */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#committing?.done;
    if (this.#options.isPending() && this.#failing === undefined) await this.#commit();
    clearTimeout(this.#timer);
    this.#failIfFailing();
  }

  #schedule(delayMs: number): void {
    const isBusy = this.#timer !== undefined || this.#committing !== undefined;
    if (isBusy || this.#failing !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => this.#commit(), delayMs);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #commit(): Promise<void> {
    this.#stopTimer();
    const waiters = this.#waiters;
    this.#waiters = [];
    const done = this.#options.write().then(
      () => this.#succeed(waiters),
      (error: Error) => this.#fail(waiters, error),
    );
    this.#committing = { startedMs: performance.now(), done };
    return done;
  }

  #succeed(waiters: readonly DurableWaiter[]): void {
    const { logger, isPending } = this.#options;
    this.#committing = undefined;
    if (this.#failing !== undefined) logger?.info('the data folder is written again');
    this.#failing = undefined;
    this.#committedAtMs = Date.now();
    for (const waiter of waiters) waiter.resolve();
    if (isPending()) this.#schedule(this.#waiters.length > 0 ? 0 : COMMIT_DELAY_MS);
  }

  /** Rejects all waiters, and tries again after a delay. */
  #fail(waiters: readonly DurableWaiter[], error: Error): void {
    this.#committing = undefined;
    const delayMs = Math.min((this.#failing?.delayMs ?? RETRY_DELAY_MS_MIN / 2) * 2, RETRY_DELAY_MS_MAX);
    const reason = `the data folder cannot be written: ${error.message}; ${this.#freeSpace()}`;
    if (this.#failing === undefined) this.#options.logger?.error(reason);
    this.#failing = { reason, delayMs };
    for (const waiter of [...waiters, ...this.#waiters]) waiter.reject(new Error(reason));
    this.#waiters = [];
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#commit(), delayMs).unref();
  }

  #freeSpace(): string {
    try {
      return `${Math.floor(this.#options.freeBytes() / 1024)} KiB are free there`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  #failIfFailing(): void {
    if (this.#failing !== undefined) throw new Error(this.#failing.reason);
  }
}
