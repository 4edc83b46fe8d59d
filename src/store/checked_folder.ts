import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE, systemReason } from './data_folder.js';
import type { OnProgress } from './folder_progress.js';
import { openFolderToRead, type ReadFolder } from './lmdb/folder.js';
import { isFolderInUse } from './lmdb/lock.js';
import { findPageDamage } from './lmdb/page_tree.js';

/** A data folder whose pages were checked, so that no read of a damaged page ends the process. */
export interface CheckedFolder {
  readonly folder: ReadFolder;
  /** True while a service uses the folder. */
  readonly isInUse: boolean;
}

/**
 * Opens a data folder to read it, even while a service uses the folder. lmdb may end the process on a damaged page, so this
 * function checks the pages first. A service that uses the folder has already checked the pages.
 * @throws Error with a message of one sentence when there is no data, or when the structure of the data is damaged
 */
export async function openCheckedFolder(dir: string, onProgress: OnProgress): Promise<CheckedFolder> {
  const file = join(dir, DATA_FILE);
  requireFile(dir, file);
  const isInUse = await isFolderInUse(dir);
  if (!isInUse) refuseDamage(file, onProgress);
  return { folder: openToRead(dir), isInUse };
}

function requireFile(dir: string, file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new Error(`${dir} has no ${DATA_FILE}: it is not a data folder`, { cause: error });
    throw new Error(`${file} cannot be read: ${systemReason(error)}`, { cause: error });
  }
}

/**
 * Throws if the pages are damaged.
 * @param readsMax the number of reads that must all find damage. Several reads are needed while a service runs, because the service may
 * be writing the page with the newest state
 */
export function refuseDamage(file: string, onProgress: OnProgress, readsMax = 1): void {
  // A reader reports an empty file as an error. A start treats an empty file as a new database.
  if (statSync(file).size === 0) throw new Error(`${file} is damaged: it is empty`);
  let damage: string | undefined;
  for (let read = 0; read < readsMax; read++) {
    damage = findPageDamage(file, (done, total) => onProgress('checking pages', done, total));
    if (damage === undefined) return;
  }
  throw new Error(`${file} is damaged: ${damage}`);
}

function openToRead(dir: string): ReadFolder {
  try {
    return openFolderToRead(dir);
  } catch (error) {
    throw new Error(`${dir} cannot be read: ${systemReason(error)}`, { cause: error });
  }
}
