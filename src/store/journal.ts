import type { Logger } from 'pino';
import { JournalTable } from './journal_table.js';
import type { Folder } from './lmdb/folder.js';
import type { Codec, CommitPart, Table } from './table.js';

/** Files beside the store that are written before each commit. On disk, these files are never behind the records of the store. */
export interface CommitCompanion {
  /** @throws Error (as a rejection) when the write fails; the commit then fails too, and the journal tries again */
  write(): Promise<void>;
  /** Called when the commit after {@link write} is on disk. */
  committed(): void;
  /** Called after the last commit, and before another process may write. */
  close(): Promise<void>;
}

export interface CommitWatch {
  /** Called when a commit takes all changes put so far. */
  begun(): void;
  /** @param isOnDisk false if the changes of the commit must wait for another commit */
  settled(isOnDisk: boolean): void;
}

export interface JournalOptions {
  /** Logs when writing begins to fail, and when it works again. */
  readonly logger?: Pick<Logger, 'error' | 'info'> | undefined;
  readonly companion?: CommitCompanion | undefined;
}

/**
 * The delay before a commit when no caller waits for the commit. With a waiting caller, the commit starts immediately. With 1,000
 * assets at 2 Hz, 20 commits a second took 20 % less CPU than 50. 10 commits a second took as much as 20.
 */
const COMMIT_DELAY_MS = 50;
/**
 * The delay before a failed commit is tried again, after any error. lmdb drops the whole transaction, so the next commit writes each
 * page again and does not depend on data that the disk may have lost. The last step of a commit writes the page that makes the commit
 * valid. If that step fails, lmdb refuses all later commits, and the folder works again only after a restart.
 */
const RETRY_DELAY_MS_MIN = 250;
const RETRY_DELAY_MS_MAX = 1_000;
/** The longest time of a commit. A longer commit counts as a failing disk, even if the commit never ends. */
const COMMIT_MS_MAX = 10_000;

interface CommitWaiter {
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Writes the changes of its tables in group commits. Only one commit runs at a time. A commit writes all waiting changes in a single
 * transaction: either all changes become durable, or no change.
 */
export class Journal {
  readonly #folder: Folder;
  readonly #options: JournalOptions;
  readonly #tables: CommitPart[] = [];
  #housekeeping = (): void => {};
  #watch: CommitWatch | undefined;
  #pendingWaiters: CommitWaiter[] = [];
  #committing: { readonly startedMs: number; readonly done: Promise<void> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failing: { readonly reason: string; readonly delayMs: number } | undefined;
  #isClosed = false;
  #committedAtMs: number | undefined;

  constructor(folder: Folder, options: JournalOptions = {}) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Opens the table of a kind of record. The caller may open each name once. */
  table<Value>(name: string, codec: Codec<Value>): Table<Value> {
    const table = new JournalTable(this.#folder.openTable(name), codec, () =>
      this.#schedule(COMMIT_DELAY_MS),
    );
    this.#tables.push(table);
    return table;
  }

  /** Sets a function that runs before each commit. The function may put and remove records, for bounded housekeeping. */
  beforeCommit(housekeeping: () => void): void {
    this.#housekeeping = housekeeping;
  }

  /** Sets the watch. The journal calls the watch when a commit begins, after the commit's housekeeping, and when the commit ends. */
  watchCommits(watch: CommitWatch): void {
    this.#watch = watch;
  }

  /** The number of records of all tables that wait to be written. */
  get waiting(): number {
    return this.#tables.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  /** The time of the last successful commit, in UNIX milliseconds; `undefined` before the first commit. */
  get committedAtMs(): number | undefined {
    return this.#committedAtMs;
  }

  /**
   * Resolves when all changes from before this call are flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails
   */
  durable(): Promise<void> {
    if (this.#failing !== undefined) return Promise.reject(new Error(this.#failing.reason));
    if (this.#isClosed) return Promise.reject(new Error('the store is closed'));
    if (!this.#hasPending())
      return this.#committing?.done.then(() => this.#failIfFailing()) ?? Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#pendingWaiters.push({ resolve, reject });
      // The commit starts in the next turn of the event loop, so that all calls of this turn share the commit.
      if (this.#committing === undefined && this.#pendingWaiters.length === 1) {
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

  /** Writes the waiting changes and stops. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#committing?.done;
    if (this.#hasPending() && this.#failing === undefined) await this.#commit();
    clearTimeout(this.#timer);
    await this.#options.companion?.close();
    this.#failIfFailing();
  }

  #hasPending(): boolean {
    return this.#tables.some(({ pending }) => pending > 0);
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
    if (this.#failing === undefined) this.#housekeeping();
    this.#stopTimer();
    const waiters = this.#pendingWaiters;
    this.#pendingWaiters = [];
    for (const table of this.#tables) table.beginCommit();
    this.#watch?.begun();
    const done = write(this.#folder, this.#tables, this.#options.companion).then(
      () => this.#endCommit(waiters),
      (error: Error) => this.#undoCommit(waiters, error),
    );
    this.#committing = { startedMs: performance.now(), done };
    return done;
  }

  #endCommit(waiters: readonly CommitWaiter[]): void {
    const { logger, companion } = this.#options;
    this.#committing = undefined;
    if (this.#failing !== undefined) logger?.info('the data folder is written again');
    this.#failing = undefined;
    this.#committedAtMs = Date.now();
    companion?.committed();
    for (const table of this.#tables) table.endCommit();
    this.#watch?.settled(true);
    for (const waiter of waiters) waiter.resolve();
    if (this.#hasPending()) this.#schedule(this.#pendingWaiters.length > 0 ? 0 : COMMIT_DELAY_MS);
  }

  /** Rejects all waiters, and tries the changes of the failed commit again after a delay. */
  #undoCommit(waiters: readonly CommitWaiter[], error: Error): void {
    this.#committing = undefined;
    for (const table of this.#tables) table.undoCommit();
    this.#watch?.settled(false);
    const delayMs = Math.min((this.#failing?.delayMs ?? RETRY_DELAY_MS_MIN / 2) * 2, RETRY_DELAY_MS_MAX);
    const reason = `the data folder cannot be written: ${error.message}; ${freeSpace(this.#folder)}`;
    if (this.#failing === undefined) this.#options.logger?.error(reason);
    this.#failing = { reason, delayMs };
    for (const waiter of [...waiters, ...this.#pendingWaiters]) waiter.reject(new Error(reason));
    this.#pendingWaiters = [];
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#commit(), delayMs).unref();
  }

  #failIfFailing(): void {
    if (this.#failing !== undefined) throw new Error(this.#failing.reason);
  }
}

/** Reads the free space for the reason of an error. If the disk becomes full in the middle of a page, lmdb only reports EIO. */
function freeSpace(folder: Folder): string {
  try {
    return `${Math.floor(folder.freeBytes() / 1024)} KiB are free there`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Writes, in a single transaction, the changes that the tables have begun to commit. Resolves when the changes are flushed. */
async function write(
  { root, claimRoom }: Folder,
  tables: readonly CommitPart[],
  companion: CommitCompanion | undefined,
): Promise<void> {
  claimRoom(tables.reduce((sum, table) => sum + table.encodeCommit(), 0));
  await companion?.write();
  try {
    await root.batch(() => {
      for (const table of tables) table.writeCommit();
    });
    root.resetReadTxn();
  } catch (error) {
    throw await reasonOf(error as Error);
  }
}

/** Finds the reason of an error. lmdb rejects with a general error, which contains a promise of the system's error. */
async function reasonOf(error: Error & { commitError?: Promise<never> }): Promise<Error> {
  if (error.commitError === undefined) return error;
  return error.commitError.catch((reason: Error) => reason);
}
