import { closeSync, mkdirSync, openSync, readSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { FORMAT_VERSION } from './envelope.js';
import { lockFolder } from './lock.js';

/** An open data folder that belongs to this process. */
export interface Folder {
  readonly root: RootDatabase;
  openTable(name: string): Database<Buffer, [string | number, string | number]>;
  /** What the file system has left for this process. */
  freeBytes(): number;
  close(): Promise<void>;
}

const TABLES_MAX = 8;

/** lmdb's magic number and where it stands: behind the header of the first page. */
const DATABASE_MAGIC = 0xbeefc0de;
const DATABASE_MAGIC_OFFSET = 24;

/**
 * Opens a data folder, making it when there is none.
 *
 * lmdb runs without `overlappingSync`: a commit then resolves only after fdatasync of the data and of the page that
 * makes it valid, which is what a durable acknowledgement means, and after power loss the file is at its last commit.
 * Its `eventTurnBatching` is off as well: the journal batches, and lmdb's own leaves a promise that nobody can catch,
 * whose rejection would end the process when the disk is full.
 * @throws Error when another process has the folder, when it has another format version, or when it cannot be read.
 */
export async function openFolder(dir: string): Promise<Folder> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const unlock = await lockFolder(dir);
  let root: RootDatabase | undefined;
  try {
    refuseForeignFile(join(dir, 'data.mdb'));
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
    throw new Error(`the data folder ${dir} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
  const opened = root;
  return {
    root: opened,
    openTable: (name) => opened.openDB(name, { encoding: 'binary' }),
    freeBytes() {
      const { bavail, bsize } = statfsSync(dir);
      return bavail * bsize;
    },
    async close() {
      await opened.close();
      await unlock();
    },
  };
}

/** lmdb 3.5 ends the process when it opens a file that is no database, so this looks first. */
function refuseForeignFile(path: string): void {
  const head = Buffer.alloc(DATABASE_MAGIC_OFFSET + 4);
  const file = openSync(path, 'a+', 0o600);
  const length = readSync(file, head, 0, head.length, 0);
  closeSync(file);
  if (length > 0 && head.readUInt32LE(DATABASE_MAGIC_OFFSET) !== DATABASE_MAGIC)
    throw new Error('data.mdb is not a database of this program, or its first page is damaged');
}
