import { copyFileSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatCheckpoint } from '../../tlog/tree_checkpoint.js';
import {
  BATCH_FOLDER,
  CHECKPOINT_FILE,
  type FileToWrite,
  makeLedgerFolders,
  publicFolderOf,
  readIfExists,
  stateFolderOf,
  streamsFolderOf,
  writeDurably,
} from './ledger_folder.js';
import { copyOfJournal } from './ledger_journal.js';
import { beginsWith, readHead } from './sealed_head.js';

/** The file that marks a copy. It contains the time of the copy, as RFC 3339. */
const COPY_FILE = 'copy';
/** The largest number of attempts. The copy starts again if the running service replaces a file during the copy. */
const ATTEMPTS_MAX = 5;

/**
 * Copies the public log of a data folder and marks the copy. A service may continue the log during the copy. A service that opens the copy
 * signs nothing until its witnesses have confirmed that they know no larger tree.
 *
 * The files are copied in this order: the published checkpoint, the journal, the last signed tree, the last sealed tree, the public files.
 * The service writes them in the opposite order. So the copied files have all batches of the copied trees, and the copied journal has all
 * other records from before the copy.
 * @returns the names of the folders in the target; empty when the folder has no log
 * @throws Error when the log's files do not match the root of the last sealed tree
 */
export async function copyLog(dataFolder: string, target: string, nowMs: number): Promise<readonly string[]> {
  const source = { publicFolder: publicFolderOf(dataFolder), stateFolder: stateFolderOf(dataFolder) };
  if (readHead(source.stateFolder, 'signed') === undefined) return [];
  for (let attempt = 1; ; attempt++) {
    await Promise.all(
      [publicFolderOf(target), stateFolderOf(target)].map((path) =>
        rm(path, { recursive: true, force: true }),
      ),
    );
    try {
      await copyOnce(source, target, nowMs);
      return [publicFolderOf(''), stateFolderOf('')];
    } catch (error) {
      const isReplaced =
        (error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof IncompleteCopy;
      if (!isReplaced || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** Copies both logs of a data folder like {@link copyLog}: the log of signed prices, and the log of streaming payloads. */
export async function copyBothLogs(
  dataFolder: string,
  target: string,
  nowMs: number,
): Promise<readonly string[]> {
  const prices = await copyLog(dataFolder, target, nowMs);
  const streams = await copyLog(streamsFolderOf(dataFolder), streamsFolderOf(target), nowMs);
  return streams.length === 0 ? prices : [...prices, streamsFolderOf('')];
}

/** Returns the time at which this folder was copied; `undefined` for an original, and for a copy without its mark. */
export function readCopyMark(stateFolder: string): string | undefined {
  return readIfExists(join(stateFolder, COPY_FILE))?.toString().trim();
}

/** Removes the mark, after the witnesses have confirmed that they know no larger tree. */
export async function removeCopyMark(stateFolder: string): Promise<void> {
  await rm(join(stateFolder, COPY_FILE), { force: true });
}

class IncompleteCopy extends Error {}

interface LogFolders {
  readonly publicFolder: string;
  readonly stateFolder: string;
}

async function copyOnce(source: LogFolders, target: string, nowMs: number): Promise<void> {
  const [publicFolder, stateFolder] = [publicFolderOf(target), stateFolderOf(target)];
  makeLedgerFolders(publicFolder, stateFolder);
  const checkpoint = readIfExists(join(source.publicFolder, CHECKPOINT_FILE));
  const files: FileToWrite[] = [
    { path: COPY_FILE, bytes: Buffer.from(`${new Date(nowMs).toISOString()}\n`) },
  ];
  const journal = copyOfJournal(source.stateFolder);
  if (journal !== undefined) files.push(journal);
  const heads = (['signed', 'sealed'] as const).map((name) => ({
    name,
    head: readHead(source.stateFolder, name),
  }));
  for (const { name, head } of heads)
    if (head !== undefined) files.push({ path: name, bytes: Buffer.from(formatCheckpoint(head)) });
  await writeDurably(stateFolder, files);
  for (const path of publicFilesIn(source.publicFolder)) {
    mkdirSync(dirname(join(publicFolder, path)), { recursive: true });
    copyUnlessExpired(source.publicFolder, publicFolder, path);
  }
  if (checkpoint !== undefined)
    await writeDurably(publicFolder, [{ path: CHECKPOINT_FILE, bytes: checkpoint }]);
  const sealed = heads[1]!.head;
  if (sealed !== undefined && !beginsWith(publicFolder, sealed, sealed))
    throw new IncompleteCopy(
      `the files in ${source.publicFolder} do not give the root of their ${sealed.size} batches`,
    );
}

/** Copies a public file, unless the service has removed it as expired since the files were listed. */
function copyUnlessExpired(from: string, to: string, path: string): void {
  try {
    copyFileSync(join(from, path), join(to, path));
  } catch (error) {
    const isExpired =
      (error as NodeJS.ErrnoException).code === 'ENOENT' && path.startsWith(`${BATCH_FOLDER}/`);
    if (!isExpired) throw error;
  }
}

/** Lists the complete public files except the published checkpoint. */
function publicFilesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) =>
      path !== CHECKPOINT_FILE &&
      !path.endsWith('.unfinished') &&
      (statSync(join(folder, path), { throwIfNoEntry: false })?.isFile() ?? false),
  );
}
