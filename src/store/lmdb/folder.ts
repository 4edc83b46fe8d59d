import { closeSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { FORMAT_VERSION } from '../../records/envelope.js';
import {
  DATA_FILE,
  dataFolderProblem,
  freeBytes,
  makeFolder,
  ROOM_BYTES_MIN,
  systemReason,
} from '../data_folder.js';
import type { OnProgress } from '../folder_progress.js';
import { type FolderLock, lockFolder } from './lock.js';
import { findPageDamage } from './page_tree.js';

/** An open data folder that belongs to this process. */
export interface Folder {
  readonly root: RootDatabase;
  /** Opens the table, or makes it. @throws Error when it cannot be made. */
  openTable(name: string): Database<Buffer, [string | number, string | number]>;
  /** The size of the data file. */
  fileBytes(): number;
  /** The free space of the file system for this process. */
  freeBytes(): number;
  /** @throws Error when there is no room for a commit with this many bytes of records. */
  claimRoom(recordBytes: number): void;
  /** Another process handed it over, and wrote all that it held: there is nothing to check. */
  readonly isHandedOver: boolean;
  /** Sets what is called, once, when another process asks for the folder; {@link handOver} or {@link close} then lets it have it. */
  onTakeOver(callback: () => void): void;
  /** From now on another process may write to the folder, and this one only reads it. All that it held is on disk. */
  handOver(): Promise<void>;
  /** Resolves when the process that took the folder serves, has ended, or takes too long; at once when none took it. */
  successorServes(): Promise<void>;
  /** Tells the process that handed the folder over, if one did, that this one serves. */
  tellServing(): void;
  /** @param isClean whether all that this process held is on disk */
  close(isClean: boolean): Promise<void>;
}

const TABLES_MAX = 8;
/** How often readers that no longer live are looked for. */
const READERS_CHECK_MS = 60_000;

/**
 * Opens a data folder, making it when there is none.
 *
 * lmdb runs without `overlappingSync`: a commit then resolves only after fdatasync of the data and of the page that
 * makes it valid. That is what a durable acknowledgement means, and after power loss the file is at its last commit.
 * `eventTurnBatching` is off as well: the journal batches, and lmdb's own batching leaves a promise that no code can catch,
 * whose rejection would end the process when the disk is full.
 * @param takeOver asks another process that has it to hand it over
 * @throws Error of one sentence, which names the folder and its key `storage.dir`: it cannot be made or used, another process
 *   has it, it has another format version, or it is damaged.
 */
export async function openFolder(
  dir: string,
  takeOver: boolean,
  onProgress: OnProgress = () => {},
): Promise<Folder> {
  const lock = await claimFolder(dir, takeOver);
  let root: RootDatabase | undefined;
  try {
    if (!lock.isHandedOver) refuseDamagedFile(join(dir, DATA_FILE), onProgress);
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
    else if (version !== FORMAT_VERSION)
      throw new Error(`it has format version ${version}, and this program reads version ${FORMAT_VERSION}`);
  } catch (error) {
    await root?.close();
    await lock.release(false);
    throw unopened(dir, error as Error);
  }
  const opened = root;
  let checkedMs = performance.now();

  /** A process that was killed while it read, a backup for example, would keep every page since then from being used again. */
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
    freeBytes: () => freeBytes(dir),
    claimRoom(recordBytes) {
      forgetDeadReaders();
      if (freeBytes(dir) < ROOM_BYTES_MIN + 2 * recordBytes)
        throw new Error('there is no room for what waits');
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
  /** Keeps all pages of the newest state as they are. @returns a function that lets go of them */
  holdState(): () => void;
  /** Writes the newest state to `data.mdb` of another folder, without the pages that are free. */
  copyTo(dir: string): Promise<void>;
  /** Reads see the newest commit from now on, also those of a turn that has read before. */
  refresh(): void;
  close(): Promise<void>;
}

/**
 * Opens a folder that has all of its tables, without claiming it. All reads of a turn see the commit that was the newest at the
 * first of them.
 */
export function openFolderToRead(dir: string): ReadFolder {
  const root = open({ path: dir, noSubdir: false, readOnly: true, maxDbs: TABLES_MAX, encoding: 'json' });
  return {
    openTable(name) {
      const table: Database<Buffer, [string | number, string | number]> | undefined = root.openDB(name, {
        encoding: 'binary',
      });
      if (table === undefined) throw new Error(`the data folder ${dir} has no table ${name}`);
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

/** Makes the folder where there is none, and locks it. */
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

function unopened(dir: string, cause: Error): Error {
  return new Error(`storage.dir: the data folder ${dir} cannot be opened: ${systemReason(cause)}`, { cause });
}

/** Checks the file first, because on a damaged page lmdb ends the process or reads on. */
function refuseDamagedFile(path: string, onProgress: OnProgress): void {
  // A new one is for this user alone.
  closeSync(openSync(path, 'a', 0o600));
  const damage = findPageDamage(path, (done, total) => onProgress('checking pages', done, total));
  if (damage !== undefined)
    throw new Error(
      `data.mdb is damaged: ${damage}. Restore the folder from a backup, or move data.mdb away to start without what it holds`,
    );
}
