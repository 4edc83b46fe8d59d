import { existsSync, readFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isKeyName, parseNote } from '../../tlog/signed_note.js';
import { TlogError } from '../../tlog/tlog_error.js';
import { type Checkpoint, parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import { emptyRoot } from '../../tlog/tree_hash.js';
import { CHECKPOINT_FILE, makeLedgerFolders, publicFolderOf, stateFolderOf } from './ledger_folder.js';
import { beginsWith, type HeadName, readHead, writeHead } from './sealed_head.js';
import { readStopNote } from './stop_note.js';

/** The log of a folder before the folder received a new origin. */
export interface EndedLog {
  /** The origin; `undefined` if no file contains it. */
  readonly origin: string | undefined;
  /** The last signed tree; `undefined` if it is lost. */
  readonly signed: Checkpoint | undefined;
  /** The last published tree. */
  readonly published: Checkpoint | undefined;
  /** The number of batches in the log's files. */
  readonly batches: bigint;
  /** The reasons why the log could not continue; empty for a healthy log. */
  readonly faults: readonly string[];
  /** The folders to which the log's files were moved. */
  readonly movedTo: readonly string[];
}

const ENDED_MAX = 1_000;

/**
 * Ends the log of a data folder, keeps its files in folders beside it, and begins a log with another origin. No process may use the folder.
 * @param isTold true to end a healthy log too
 * @throws Error whose message is one sentence; nothing has changed in this case
 */
export async function beginNewOrigin(dataFolder: string, origin: string, isTold: boolean): Promise<EndedLog> {
  const [publicFolder, stateFolder] = [publicFolderOf(dataFolder), stateFolderOf(dataFolder)];
  if (!isKeyName(origin) || origin.includes('://') || origin.endsWith('/'))
    throw new Error(
      `${JSON.stringify(origin)} is not an origin: name an address without scheme, such as prices.example.com/tlog2`,
    );
  const faults: string[] = [];
  const stopped = readStopNote(stateFolder);
  if (stopped !== undefined) faults.push(stopped);
  const signed = headOf(stateFolder, 'signed', faults);
  const sealed = headOf(stateFolder, 'sealed', faults);
  const published = publishedIn(publicFolder, faults);
  if (signed === undefined) faults.push('the last signed checkpoint is missing');
  else if (signed.size > 0n && (sealed === undefined || !beginsWith(publicFolder, sealed, signed)))
    faults.push(`the files do not have the ${signed.size} batches of the last signed checkpoint`);
  const old = signed?.origin ?? sealed?.origin ?? published?.origin;
  if ([signed, sealed, published].some((head) => head?.origin === origin))
    throw new Error(`${origin} is the origin of the log that ends: name another one`);
  if (faults.length === 0 && !isTold)
    throw new Error(
      `the log ${old} of ${dataFolder} is healthy, with ${signed!.size} batches signed: --even-if-healthy ends it all the same`,
    );
  const movedTo = await moveAway([stateFolder, publicFolder]);
  makeLedgerFolders(publicFolder, stateFolder);
  await writeHead(stateFolder, 'signed', { origin, size: 0n, root: emptyRoot() });
  return { origin: old, signed, published, batches: sealed?.size ?? 0n, faults, movedTo };
}

function headOf(stateFolder: string, name: HeadName, faults: string[]): Checkpoint | undefined {
  return readOrNote(() => readHead(stateFolder, name), `${join(stateFolder, name)} is damaged`, faults);
}

function publishedIn(publicFolder: string, faults: string[]): Checkpoint | undefined {
  const path = join(publicFolder, CHECKPOINT_FILE);
  if (!existsSync(path)) return undefined;
  const read = () => parseCheckpoint(parseNote(readFileSync(path)).text);
  return readOrNote(read, `${path} is damaged`, faults);
}

function readOrNote<T>(read: () => T, fault: string, faults: string[]): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    faults.push(`${fault}: ${error.message}`);
    return undefined;
  }
}

/** Moves folders to unused names with the same number. If the process is killed between two moves, the log does not start. */
async function moveAway(folders: readonly string[]): Promise<string[]> {
  const names = (number: number) => folders.map((folder) => `${folder}-ended-${number}`);
  let number = 1;
  while (number < ENDED_MAX && names(number).some((path) => existsSync(path))) number += 1;
  if (number === ENDED_MAX) throw new Error(`there are ${ENDED_MAX - 1} ended logs already`);
  const moved: string[] = [];
  for (const [i, target] of names(number).entries()) {
    if (!existsSync(folders[i]!)) continue;
    await rename(folders[i]!, target);
    moved.push(target);
  }
  return moved;
}
