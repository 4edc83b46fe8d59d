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
import { lockFolder } from './lock.js';
import { findPageDamage } from './page_tree.js';

/** An open data folder that belongs to this process. */
export interface Folder {
  readonly root: RootDatabase;
  /** Opens the table, or makes it. @throws Error when it cannot be made. */
  openTable(name: string): Database<Buffer, [string | number, string | number]>;
  /** The free space of the file system for this process. */
  freeBytes(): number;
  /** @throws Error when there is no room for a commit with this many bytes of records. */
  claimRoom(recordBytes: number): void;
  close(): Promise<void>;
}

const TABLES_MAX = 8;

/**
 * Opens a data folder, making it when there is none.
 *
 * lmdb runs without `overlappingSync`: a commit then resolves only after fdatasync of the data and of the page that
 * makes it valid. That is what a durable acknowledgement means, and after power loss the file is at its last commit.
 * `eventTurnBatching` is off as well: the journal batches, and lmdb's own batching leaves a promise that no code can catch,
 * whose rejection would end the process when the disk is full.
 * @throws Error of one sentence, which names the folder and its key `storage.dir`: it cannot be made or used, another process
 *   has it, it has another format version, or it is damaged.
 */
export async function openFolder(dir: string): Promise<Folder> {
  const unlock = await claimFolder(dir);
  let root: RootDatabase | undefined;
  try {
    refuseDamagedFile(join(dir, DATA_FILE));
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
    await unlock();
    throw unopened(dir, error as Error);
  }
  const opened = root;
  return {
    root: opened,
    openTable(name) {
      try {
        return opened.openDB(name, { encoding: 'binary' });
      } catch (error) {
        throw unopened(dir, error as Error);
      }
    },
    freeBytes: () => freeBytes(dir),
    claimRoom(recordBytes) {
      if (freeBytes(dir) < ROOM_BYTES_MIN + 2 * recordBytes)
        throw new Error('there is no room for what waits');
    },
    async close() {
      try {
        await opened.close();
      } finally {
        await unlock();
      }
    },
  };
}

/** Makes the folder where there is none, and locks it. */
async function claimFolder(dir: string): Promise<() => Promise<void>> {
  try {
    const problem = dataFolderProblem(dir);
    if (problem !== undefined) throw new Error(problem);
    makeFolder(dir);
    return await lockFolder(dir);
  } catch (error) {
    throw unopened(dir, error as Error);
  }
}

function unopened(dir: string, cause: Error): Error {
  return new Error(`storage.dir: the data folder ${dir} cannot be opened: ${systemReason(cause)}`, { cause });
}

/** Checks the file first, because on a damaged page lmdb ends the process or reads on. */
function refuseDamagedFile(path: string): void {
  const damage = findPageDamage(path);
  if (damage !== undefined)
    throw new Error(
      `data.mdb is damaged: ${damage}. Restore the folder from a backup, or move data.mdb away to start without what it holds`,
    );
}
