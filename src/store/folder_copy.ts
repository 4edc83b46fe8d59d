import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openCheckedFolder } from './checked_folder.js';
import { type FolderContents, readContents } from './contents.js';
import { DATA_FILE, flush, makeFolder, systemReason } from './data_folder.js';
import type { OnProgress } from './folder_progress.js';
import type { ReadFolder } from './lmdb/folder.js';
import { IDS_FILE, StreamingIds } from './streaming_ids.js';

/** The folder inside the target for an unfinished copy. A complete copy moves out of this folder. */
const UNFINISHED = 'unfinished';
const WATCH_MS = 200;

/**
 * Copies the current state of a data folder, even while a service writes to the folder, and checks every record of the copy.
 *
 * The copy contains whole commits only, because lmdb keeps the state that a reader has opened. The service continues. Its file may
 * grow by the changes during the copy.
 * @param target the folder for the copy; a missing folder is made
 * @param copyMore copies more parts of the data folder into the unfinished copy, after the data file; returns their names there
 * @returns the contents of the copy
 * @throws Error with a message of one sentence; the target then has no copy
 */
export async function backUp(
  source: string,
  target: string,
  onProgress: OnProgress = () => {},
  copyMore: (source: string, unfinished: string) => Promise<readonly string[]> = async () => [],
): Promise<FolderContents> {
  const unfinished = join(target, UNFINISHED);
  requireNew(target, DATA_FILE);
  const { folder } = await openCheckedFolder(source, onProgress);
  try {
    await copy(folder, source, unfinished, onProgress);
    const contents = await readContents(unfinished, onProgress);
    if (contents.damagedRecords > 0)
      throw new Error(`${contents.damagedRecords} records are damaged; ${contents.damage[0]}`);
    flush(join(unfinished, DATA_FILE));
    const more = [...(await copyMore(source, unfinished)), ...copyIds(source, unfinished)];
    for (const name of more) requireNew(target, name);
    for (const name of more) renameSync(join(unfinished, name), join(target, name));
    renameSync(join(unfinished, DATA_FILE), join(target, DATA_FILE));
    flush(target);
    return contents;
  } catch (error) {
    throw new Error(`no backup of ${source} was made: ${systemReason(error)}`, { cause: error });
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** @throws Error when the target already has a file or folder with this name */
function requireNew(target: string, name: string): void {
  if (existsSync(join(target, name))) throw new Error(`${target} has a ${name} already: name another folder`);
}

/** Copies the list of streaming IDs. @returns the name of the copied file, if there is a list */
function copyIds(source: string, target: string): string[] {
  const file = join(source, IDS_FILE);
  if (!existsSync(file)) return [];
  copyFileSync(file, join(target, IDS_FILE));
  StreamingIds.read(target);
  flush(join(target, IDS_FILE));
  return [IDS_FILE];
}

/** Copies an open folder, and closes it. */
async function copy(
  folder: ReadFolder,
  source: string,
  target: string,
  onProgress: OnProgress,
): Promise<void> {
  let watch: NodeJS.Timeout | undefined;
  try {
    rmSync(target, { recursive: true, force: true });
    makeFolder(target);
    const file = join(target, DATA_FILE);
    const totalBytes = statSync(join(source, DATA_FILE)).size;
    watch = setInterval(() => {
      const copied = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      onProgress('copying', copied, Math.max(copied, totalBytes));
    }, WATCH_MS);
    await folder.copyTo(target);
  } finally {
    clearInterval(watch);
    await folder.close();
  }
}
