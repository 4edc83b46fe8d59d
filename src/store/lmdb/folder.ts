import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { FORMAT_VERSION } from '../../records/envelope.js';
import { DATA_FILE, dataFolderProblem, makeFolder, systemReason } from '../data_folder.js';
import type { OnProgress } from '../folder_progress.js';
import { DiskRoom } from './disk_room.js';
import { type FolderLock, lockFolder } from './lock.js';
import { findPageDamage, type KeyReaders } from './page_tree.js';

/** An open data folder that belongs to this process. */
export interface Folder {
  readonly root: RootDatabase;
  /**
   * Opens the table, or creates the table.
   * @throws Error when the table cannot be made
   */
  openTable(name: string): Database<Buffer, [string | number, string | number]>;
  /** Returns the size of the data file. */
  fileBytes(): number;
  /** Returns the free space of the file system for this process. */
  freeBytes(): number;
  /**
   * Reserves the room on the disk for a commit.
   * @throws Error when the disk has no room for this number of pages of tables
   */
  claimRoom(pages: number): void;
  /** True when another process wrote all its records and handed the folder over. This process then needs no check. */
  readonly isHandedOver: boolean;
  /**
   * Sets the callback for the first request of another process for the folder. After this call, {@link handOver} or {@link close}
   * gives the folder to that process.
   */
  onTakeOver(callback: () => void): void;
  /**
   * Gives the folder to another process, which may write to the folder from now on. This process then only reads the folder. All
   * records must be on disk.
   */
  handOver(): Promise<void>;
  /**
   * Resolves when the process that took the folder starts to serve, ends, or takes too long. Resolves immediately when no process
   * took the folder.
   */
  successorServes(): Promise<void>;
  /** Reports to the process that handed over the folder, if any, that this process serves. */
  tellServing(): void;
  /** @param isClean true if all records of this process are on disk */
  close(isClean: boolean): Promise<void>;
}

const TABLES_MAX = 8;
/** The interval of the search for dead readers. */
const READERS_CHECK_MS = 60_000;

export interface FolderOptions {
  readonly dir: string;
  /** True to request the folder from another process that has the folder. */
  readonly takeOver?: boolean | undefined;
  readonly onProgress?: OnProgress | undefined;
  /** The receivers of the keys that the check of the folder reads. A folder that was handed over is not checked. */
  readonly onKeys?: KeyReaders | undefined;
  /** The free space that commits leave to the file system. */
  readonly reserveBytes?: number | undefined;
  /** Returns the free space of the file system for this process; the default asks the system. */
  readonly freeBytes?: (() => number) | undefined;
}

/**
 * Opens a data folder, or creates a missing folder.
 *
 * lmdb runs without `overlappingSync`, so a commit resolves only after fdatasync of the data and of the page that makes the data
 * valid. An acknowledgement is therefore durable, and after a power failure the file has the state of its last commit.
 * `eventTurnBatching` is also off, because the journal makes the batches. lmdb's own batching leaves a promise that no code can
 * catch. When the disk is full, the rejection of this promise would end the process.
 * @throws Error when the folder cannot be made or used, has another format version, is damaged, or belongs to another process; the
 * message is one sentence, and names the folder and its key `storage.dir`
 */
export async function openFolder(options: FolderOptions): Promise<Folder> {
  const { dir, takeOver = false } = options;
  const room = new DiskRoom(dir, options.reserveBytes, options.freeBytes);
  const lock = await claimFolder(dir, takeOver);
  let root: RootDatabase | undefined;
  try {
    if (!lock.isHandedOver) refuseDamagedFile(join(dir, DATA_FILE), options);
    root = open({
      path: dir,
      noSubdir: false,
      overlappingSync: false,
      eventTurnBatching: false,
      maxDbs: TABLES_MAX,
      encoding: 'json',
    });
    const version = root.get('format');
    if (version === undefined) await root.put('format', FORMAT_VERSION);
    else requireFormat(version);
  } catch (error) {
    await root?.close();
    await lock.release(false);
    throw unopened(dir, error as Error);
  }
  const opened = root;
  let checkedMs = performance.now();

  /**
   * Removes dead readers. Without this, a process that was killed during a read, such as a backup, would prevent lmdb from using free
   * pages again.
   */
  function forgetDeadReaders(): void {
    if (performance.now() - checkedMs < READERS_CHECK_MS) return;
    checkedMs = performance.now();
    opened.readerCheck();
  }

  return {
    root: opened,
    openTable(name) {
      try {
        return opened.openDB(name, { encoding: 'binary' });
      } catch (error) {
        throw unopened(dir, error as Error);
      }
    },
    fileBytes: () => statSync(join(dir, DATA_FILE)).size,
    freeBytes: () => room.freeBytes,
    claimRoom(pages) {
      forgetDeadReaders();
      room.claim(opened, pages);
    },
    isHandedOver: lock.isHandedOver,
    onTakeOver: (callback) => lock.onTakeOver(callback),
    handOver: () => lock.release(true),
    successorServes: () => lock.successorServes(),
    tellServing: () => lock.tellServing(),
    async close(isClean) {
      let isClosed = false;
      try {
        await opened.close();
        isClosed = true;
      } finally {
        await lock.release(isClean && isClosed);
      }
    },
  };
}

/** A data folder that another thread or process may have open for writing. */
export interface ReadFolder extends Pick<Folder, 'openTable'> {
  /**
   * Keeps all pages of the newest state unchanged.
   * @returns a function that releases the pages
   */
  holdState(): () => void;
  /** Writes the newest state to `data.mdb` of another folder, without the free pages. */
  copyTo(dir: string): Promise<void>;
  /** Makes reads see the newest commit from now on, even in a turn that has already read. */
  refresh(): void;
  close(): Promise<void>;
}

/**
 * Opens a folder that has all of its tables, without claiming the folder. All reads of a turn see the commit that was newest at the
 * first read.
 * @throws Error with one clause when the folder has another format version
 */
export function openFolderToRead(dir: string): ReadFolder {
  const root = open({ path: dir, noSubdir: false, readOnly: true, maxDbs: TABLES_MAX, encoding: 'json' });
  try {
    requireFormat(root.get('format'));
  } catch (error) {
    void root.close();
    throw error;
  }
  return {
    openTable(name) {
      const table: Database<Buffer, [string | number, string | number]> | undefined = root.openDB(name, {
        encoding: 'binary',
      });
      if (table === undefined)
        throw new Error(
          `the data folder ${dir} has no table ${name}: an earlier version of this program made the folder; start the service once on it, which adds the table`,
        );
      return table;
    },
    holdState() {
      const state = root.useReadTransaction();
      return () => state.done();
    },
    copyTo: (target) => root.backup(target, true),
    refresh: () => root.resetReadTxn(),
    close: () => root.close(),
  };
}

/** Creates a missing folder, and locks the folder. */
async function claimFolder(dir: string, takeOver: boolean): Promise<FolderLock> {
  try {
    const problem = dataFolderProblem(dir);
    if (problem !== undefined) throw new Error(problem);
    makeFolder(dir);
    return await lockFolder(dir, takeOver);
  } catch (error) {
    throw unopened(dir, error as Error);
  }
}

function requireFormat(version: unknown): void {
  if (version === undefined) throw new Error('another program made it: it has no format version');
  if (version !== FORMAT_VERSION)
    throw new Error(
      `it has format version ${version}, and this program reads version ${FORMAT_VERSION}: use the version of the program that made it`,
    );
}

function unopened(dir: string, cause: Error): Error {
  return new Error(`storage.dir: the data folder ${dir} cannot be opened: ${systemReason(cause)}`, { cause });
}

/** Checks the file before lmdb opens it, because on a damaged page lmdb ends the process or returns wrong data. */
function refuseDamagedFile(path: string, { onProgress = () => {}, onKeys }: FolderOptions): void {
  // Only this user has rights to a new file.
  closeSync(openSync(path, 'a', 0o600));
  const damage = findPageDamage(path, (done, total) => onProgress('checking pages', done, total), onKeys);
  if (damage !== undefined)
    throw new Error(
      `data.mdb is damaged: ${damage}. Restore the folder from a backup, or move data.mdb away to start without what it holds`,
    );
}
