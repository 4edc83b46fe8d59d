import type { Database } from 'lmdb';
import { unwrapRecord, wrapRecord } from '../records/envelope.js';
import type { Folder } from './lmdb/folder.js';

/** Two parts, by which the records of a table are ordered: first a second or a symbol, then what is unique with it. */
export type Key = readonly [string | number, string | number];

/** One kind of record: its database and how its values become bytes. */
export interface Table<Value> {
  readonly database: Database<Buffer, [string | number, string | number]>;
  /** The bytes need only be valid until the next call. */
  encode(value: Value): Uint8Array;
  decode(payload: Uint8Array, key: Key): Value;
}

/**
 * Holds the changes that wait to be written, and writes them in group commits. A put changes only memory. One commit at a
 * time writes all waiting changes in one transaction: they become durable together or not at all. Reads see waiting changes.
 */
export interface Journal {
  get<Value>(table: Table<Value>, key: Key): Value | undefined;
  /** Takes a value to write. If it changes afterwards, it must be put again. */
  put<Value>(table: Table<Value>, key: Key, value: Value): void;
  remove<Value>(table: Table<Value>, key: Key): void;
  /** Whether this record waits to be written. */
  isWaiting<Value>(table: Table<Value>, key: Key): boolean;
  /** How many records of a table wait to be written. */
  waiting<Value>(table: Table<Value>): number;
  /**
   * Resolves when everything that was put before this call has been flushed to the disk.
   * @throws Error (as a rejection) with the reason while the disk fails.
   */
  durable(): Promise<void>;
  /** Why writing fails, or `undefined` while it works. */
  failure(): string | undefined;
  /** Writes the waiting changes and stops. */
  close(): Promise<void>;
}

/**
 * The delay before a commit when no caller waits for it; otherwise it starts at once. With 1,000 assets at 2 Hz, 20
 * commits a second took a fifth less CPU than 50, and 10 no less than 20.
 */
const COMMIT_DELAY_MS = 50;
/**
 * A failed commit is tried again, whatever the error. lmdb drops the whole transaction, so the next one writes every
 * page anew and needs nothing that the disk may have lost. If the last step fails, the page that makes a commit valid, lmdb
 * refuses all later commits; then the folder works again after a restart.
 */
const RETRY_DELAY_MS_MIN = 250;
const RETRY_DELAY_MS_MAX = 1_000;
/** A commit that takes longer counts as a failing disk, even if it never ends. */
const COMMIT_MS_MAX = 10_000;

interface Waiting {
  readonly key: [string | number, string | number];
  /** `undefined` removes the record. */
  readonly value: unknown;
  /** The record as it goes to disk, made by the first commit that tries. */
  wrapped?: Buffer;
}
type Batch = Map<Table<never>, Map<string, Waiting>>;

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/**
 * @param beforeCommit runs before each commit and may put and remove, for bounded housekeeping
 */
export function openJournal(folder: Folder, beforeCommit: () => void): Journal {
  let pending: Batch = new Map();
  let pendingWaiters: Waiter[] = [];
  let committing:
    | { readonly batch: Batch; readonly startedMs: number; readonly done: Promise<void> }
    | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failing: { readonly reason: string; readonly delayMs: number } | undefined;
  let isClosed = false;

  function find(table: Table<never>, keyText: string): Waiting | undefined {
    return pending.get(table)?.get(keyText) ?? committing?.batch.get(table)?.get(keyText);
  }

  function change(table: Table<never>, key: Key, value: unknown): void {
    let changes = pending.get(table);
    if (changes === undefined) {
      changes = new Map();
      pending.set(table, changes);
    }
    changes.set(keyTextOf(key), { key: [key[0], key[1]], value });
    schedule(COMMIT_DELAY_MS);
  }

  function schedule(delayMs: number): void {
    if (timer !== undefined || committing !== undefined || failing !== undefined || isClosed) return;
    timer = setTimeout(commit, delayMs);
  }

  function commit(): Promise<void> {
    if (failing === undefined) beforeCommit();
    clearTimeout(timer);
    timer = undefined;
    const batch = pending;
    const waiters = pendingWaiters;
    pending = new Map();
    pendingWaiters = [];
    const done = write(folder, batch).then(
      () => {
        committing = undefined;
        failing = undefined;
        for (const waiter of waiters) waiter.resolve();
        if (pending.size > 0) schedule(pendingWaiters.length > 0 ? 0 : COMMIT_DELAY_MS);
      },
      (error: Error) => {
        committing = undefined;
        pending = merge(batch, pending);
        const delayMs = Math.min((failing?.delayMs ?? RETRY_DELAY_MS_MIN / 2) * 2, RETRY_DELAY_MS_MAX);
        failing = { reason: `the data folder cannot be written: ${error.message}; ${freeSpace()}`, delayMs };
        for (const waiter of [...waiters, ...pendingWaiters]) waiter.reject(new Error(failing.reason));
        pendingWaiters = [];
        if (!isClosed) timer = setTimeout(commit, delayMs).unref();
      },
    );
    committing = { batch, startedMs: performance.now(), done };
    return done;
  }

  /** When the disk becomes full in the middle of a page, lmdb reports EIO, so the reason names the free space. */
  function freeSpace(): string {
    try {
      return `${Math.floor(folder.freeBytes() / 1024)} KiB are free there`;
    } catch (error) {
      return (error as Error).message;
    }
  }

  return {
    get<Value>(table: Table<Value>, key: Key): Value | undefined {
      const keyText = keyTextOf(key);
      const waiting = find(table as Table<never>, keyText);
      if (waiting !== undefined) return waiting.value as Value | undefined;
      const wrapped = table.database.getBinary([key[0], key[1]]);
      return wrapped && table.decode(unwrapRecord(keyText, wrapped), key);
    },
    put: (table, key, value) => change(table as Table<never>, key, value),
    remove(table, key) {
      // A record that never reached the disk needs no removal there, so removals do not accumulate while the disk fails.
      const isOnlyPending =
        pending.get(table as Table<never>)?.has(keyTextOf(key)) &&
        committing === undefined &&
        !table.database.doesExist([key[0], key[1]]);
      if (isOnlyPending) pending.get(table as Table<never>)!.delete(keyTextOf(key));
      else change(table as Table<never>, key, undefined);
    },
    isWaiting: (table, key) => find(table as Table<never>, keyTextOf(key)) !== undefined,
    waiting: (table) =>
      (pending.get(table as Table<never>)?.size ?? 0) +
      (committing?.batch.get(table as Table<never>)?.size ?? 0),
    durable() {
      if (failing !== undefined) return Promise.reject(new Error(failing.reason));
      if (isClosed) return Promise.reject(new Error('the store is closed'));
      if (pending.size === 0) return committing?.done.then(failIfFailing) ?? Promise.resolve();
      return new Promise((resolve, reject) => {
        pendingWaiters.push({ resolve, reject });
        // The commit starts in the next turn of the event loop, so all calls of this turn share it.
        if (committing === undefined && pendingWaiters.length === 1) {
          clearTimeout(timer);
          timer = undefined;
          schedule(0);
        }
      });
    },
    failure() {
      if (failing !== undefined) return failing.reason;
      const commitMs = committing === undefined ? 0 : performance.now() - committing.startedMs;
      return commitMs > COMMIT_MS_MAX
        ? `the data folder cannot be written: a commit has been waiting for ${Math.round(commitMs / 1000)} s`
        : undefined;
    },
    async close() {
      isClosed = true;
      await committing?.done;
      if (pending.size > 0 && failing === undefined) await commit();
      clearTimeout(timer);
      failIfFailing();
    },
  };

  function failIfFailing(): void {
    if (failing !== undefined) throw new Error(failing.reason);
  }
}

function keyTextOf(key: Key): string {
  return `${key[0]}/${key[1]}`;
}

/** Writes a batch in one transaction; resolves when it has been flushed. */
async function write({ root, claimRoom }: Folder, batch: Batch): Promise<void> {
  let recordBytes = 0;
  for (const [table, changes] of batch)
    for (const [keyText, change] of changes)
      if (change.value !== undefined) {
        change.wrapped ??= wrapRecord(keyText, table.encode(change.value as never));
        recordBytes += change.wrapped.length;
      }
  claimRoom(recordBytes);
  try {
    await root.batch(() => {
      for (const [{ database }, changes] of batch)
        for (const { key, wrapped } of changes.values()) {
          if (wrapped === undefined) database.remove(key);
          else database.put(key, wrapped);
        }
    });
    root.resetReadTxn();
  } catch (error) {
    throw await reasonOf(error as Error);
  }
}

/** lmdb rejects with a general error that holds a promise of the system's error. */
async function reasonOf(error: Error & { commitError?: Promise<never> }): Promise<Error> {
  if (error.commitError === undefined) return error;
  return error.commitError.catch((reason: Error) => reason);
}

/** Both batches; where they differ, the newer one holds. */
function merge(older: Batch, newer: Batch): Batch {
  for (const [table, changes] of newer) {
    const below = older.get(table);
    if (below === undefined) older.set(table, changes);
    else for (const [keyText, change] of changes) below.set(keyText, change);
  }
  return older;
}
