import { rmSync } from 'node:fs';
import { logFolderOf, segmentPath } from '../log/segment.js';
import { dataFolderProblem, makeFolder, systemReason } from './data_folder.js';
import { putFormat } from './data_format.js';
import { type FolderLock, lockFolder } from './folder_lock.js';
import { KeptCandles } from './kept_candles.js';
import { type OpenedState, readState } from './opened_state.js';

export interface FolderOptions {
  /** The data folder. A missing folder is made. Only one process at a time can open a folder. */
  readonly dir: string;
  /** True to request the folder from another process that has the folder. */
  readonly takeOver?: boolean | undefined;
}

/** A data folder that belongs to this process, with its state. */
export interface OpenedFolder extends Omit<OpenedState, 'emptySegments' | 'damage'> {
  readonly lock: FolderLock;
  readonly candles: KeptCandles;
}

/**
 * Opens a data folder, or creates a missing folder.
 * @param onDamage called with damage that does not prevent a start, in one sentence
 * @throws Error when the folder cannot be made or used, has another format version, is damaged, or belongs to another process; the
 * message is one sentence, and names the folder and its key `storage.dir`
 */
export async function openFolder(
  { dir, takeOver = false }: FolderOptions,
  onDamage: (reason: string) => void,
): Promise<OpenedFolder> {
  let lock: FolderLock | undefined;
  try {
    const problem = dataFolderProblem(dir);
    if (problem !== undefined) throw new Error(problem);
    makeFolder(dir);
    lock = await lockFolder(dir, takeOver);
    putFormat(dir);
    const candles = new KeptCandles({
      dir,
      running: (asset) => opened.state.newest(asset)?.minute,
      onDamage,
    });
    const opened = await readState(dir, (asset, minute) => candles.close(asset, minute));
    for (const segment of opened.emptySegments)
      rmSync(segmentPath(logFolderOf(dir), segment), { force: true });
    for (const reason of opened.damage) onDamage(reason);
    return { ...opened, lock, candles };
  } catch (error) {
    await lock?.release(false);
    throw new Error(`storage.dir: the data folder ${dir} cannot be opened: ${systemReason(error)}`, {
      cause: error,
    });
  }
}
