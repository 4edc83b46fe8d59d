import { rmSync } from 'node:fs';
import { logFolderOf, segmentPath } from '../disk/segment.js';
import { dataFolderProblem, makeFolder, systemReason } from './data_folder.js';
import { putFormat } from './data_format.js';
import type { OnMinuteClosed } from './entry_state.js';
import { type FolderLock, lockFolder } from './folder_lock.js';
import { KeptCandles } from './kept_candles.js';
import { type OpenedState, StateReader } from './state_reader.js';

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
    // The other process serves meanwhile. So only its last entries are left to read when it hands the folder over.
    const early = takeOver ? await readEarly(dir) : undefined;
    lock = await lockFolder(dir, takeOver);
    putFormat(dir);
    const { opened, minutes } = (await early?.finishWhole()) ?? (await new StateReading(dir).finish());
    const candles = new KeptCandles({
      dir,
      running: (asset) => opened.state.newest(asset)?.minute,
      onDamage,
    });
    minutes.passTo((asset, minute) => candles.close(asset, minute));
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

/** @returns `undefined` when the folder cannot be read; the start then says why */
async function readEarly(dir: string): Promise<StateReading | undefined> {
  const reading = new StateReading(dir);
  try {
    await reading.read();
    return reading;
  } catch {
    await reading.close();
    return undefined;
  }
}

/** The minutes that close. They wait until the folder belongs to this process. */
class ClosedMinutes {
  #waiting: Parameters<OnMinuteClosed>[] = [];
  #receiver: OnMinuteClosed | undefined;

  readonly receive: OnMinuteClosed = (...closed) => {
    if (this.#receiver === undefined) this.#waiting.push(closed);
    else this.#receiver(...closed);
  };

  passTo(receiver: OnMinuteClosed): void {
    this.#receiver = receiver;
    for (const closed of this.#waiting) receiver(...closed);
    this.#waiting = [];
  }
}

interface ReadFolder {
  readonly opened: OpenedState;
  readonly minutes: ClosedMinutes;
}

/** A reading of a folder's state. */
class StateReading {
  readonly #minutes = new ClosedMinutes();
  readonly #reader: StateReader;

  constructor(dir: string) {
    this.#reader = new StateReader(dir, this.#minutes.receive);
  }

  read(): Promise<void> {
    return this.#reader.read();
  }

  /** @throws Error when the folder cannot be read */
  async finish(): Promise<ReadFolder> {
    try {
      await this.read();
      return { opened: this.#reader.finish(), minutes: this.#minutes };
    } finally {
      await this.close();
    }
  }

  /** @returns `undefined` when segments were moved before they were read */
  async finishWhole(): Promise<ReadFolder | undefined> {
    const read = await this.finish();
    return read.opened.damage.length === 0 ? read : undefined;
  }

  close(): Promise<void> {
    return this.#reader.close();
  }
}
