import { type BigIntStats, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeAll } from '../disk/written_file.js';
import {
  type FolderContents,
  type OnProgress,
  type PartCheck,
  readContents,
  requireData,
  snapshotMark,
} from './contents.js';
import { FORMAT_FILE, flushToDisk, makeFolder, systemReason } from './data_folder.js';
import { SNAPSHOT_FILE } from './state_snapshot.js';
import { IDS_FILE } from './streaming_ids.js';

/** The folder inside the target for an unfinished copy. A complete copy moves out of this folder. */
const UNFINISHED = 'unfinished';
/**
 * The parts of a data folder in the order of their copy. A service moves segments of the log into the past, the candles and the snapshot,
 * and writes the list of the hours of the past last, so a copy has everything that was on disk when it began.
 */
const PARTS = [FORMAT_FILE, IDS_FILE, join('past', 'hours'), 'past', 'candles', SNAPSHOT_FILE, 'log'];
const CHUNK_BYTES = 16 * 1024;
const ZEROS = Buffer.alloc(CHUNK_BYTES);
/** The largest number of passes. A pass copies what has changed since the last one. */
const PASSES_MAX = 20;

export interface BackUpOptions {
  readonly onProgress?: OnProgress;
  /**
   * Copies more parts of the data folder into the unfinished copy, each time after the other parts: these may name what the service has
   * written to such a part, so a copy of it that is older would contradict them.
   */
  readonly copyMore?: (source: string, unfinished: string) => Promise<unknown>;
  /** Checks more parts of the copy. */
  readonly checkMore?: PartCheck | undefined;
}

/**
 * Copies a data folder, even while a service writes to it, and checks the copy. The copy has everything that was durable when the copy
 * began.
 * @param target the folder for the copy; a missing folder is made
 * @returns the contents of the copy
 * @throws Error with a message of one sentence; the target then has no copy
 */
export async function backUp(
  source: string,
  target: string,
  { onProgress = () => {}, copyMore = async () => {}, checkMore }: BackUpOptions = {},
): Promise<FolderContents> {
  const unfinished = join(target, UNFINISHED);
  requireData(source);
  requireNew(target, FORMAT_FILE);
  try {
    rmSync(unfinished, { recursive: true, force: true });
    makeFolder(unfinished);
    const contents = await copyUnchanged(source, unfinished, { onProgress, copyMore, checkMore });
    // The format comes last, because it makes the target a data folder.
    const names = readdirSync(unfinished).sort(
      (a, b) => Number(a === FORMAT_FILE) - Number(b === FORMAT_FILE),
    );
    for (const name of names) requireNew(target, name);
    for (const path of readdirSync(unfinished, { recursive: true, encoding: 'utf8' }).reverse())
      flushToDisk(join(unfinished, path));
    for (const name of names) renameSync(join(unfinished, name), join(target, name));
    flushToDisk(target);
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

/** Copies until a pass in which no segment of the log was moved, and whose copy is whole. */
async function copyUnchanged(
  source: string,
  target: string,
  {
    onProgress,
    copyMore,
    checkMore,
  }: BackUpOptions & Required<Pick<BackUpOptions, 'onProgress' | 'copyMore'>>,
): Promise<FolderContents> {
  const copied = new Map<string, string>();
  for (let pass = 1; ; pass++) {
    const before = snapshotMark(source);
    await copyChanged(source, target, copied, onProgress);
    if (snapshotMark(source) !== before && pass < PASSES_MAX) continue;
    await copyMore(source, target);
    const contents = await readContents(target, onProgress, checkMore);
    const [damage] = contents.damage;
    if (damage === undefined) return contents;
    // A row of a candle that the service was writing may be torn; the next pass copies it again.
    if (pass === PASSES_MAX || !(await readContents(source)).isInUse) throw new Error(damage);
  }
}

/** Copies the files that have changed since the last pass, and removes those that the source has no longer. */
async function copyChanged(
  source: string,
  target: string,
  copied: Map<string, string>,
  onProgress: OnProgress,
): Promise<void> {
  const paths = new Set(PARTS.flatMap((part) => filesIn(source, part)));
  let done = 0;
  for (const path of paths) {
    const stat = statSync(join(source, path), { bigint: true, throwIfNoEntry: false });
    onProgress('copying', ++done, paths.size);
    if (stat === undefined || copied.get(path) === versionOf(stat)) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true, mode: 0o700 });
    try {
      await copyWithHoles(join(source, path), join(target, path));
      copied.set(path, versionOf(stat));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  for (const path of copied.keys())
    if (!existsSync(join(source, path))) {
      rmSync(join(target, path), { force: true });
      copied.delete(path);
    }
}

/** Copies a file. Zeros take no room in the copy, because a month of candles is mostly empty at first. */
async function copyWithHoles(from: string, to: string): Promise<void> {
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'w', 0o600);
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      let at = 0;
      for (;;) {
        const { bytesRead } = await source.read(chunk, 0, CHUNK_BYTES, at);
        if (bytesRead === 0) break;
        const bytes = chunk.subarray(0, bytesRead);
        if (!bytes.equals(ZEROS.subarray(0, bytesRead))) await writeAll(target, bytes, at);
        at += bytesRead;
      }
      await target.truncate(at);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Returns the files of a part, ascending. */
function filesIn(source: string, part: string): string[] {
  const stat = statSync(join(source, part), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isFile()) return [part];
  const paths = readdirSync(join(source, part), { recursive: true, encoding: 'utf8' }).sort();
  return paths
    .map((path) => join(part, path))
    .filter(
      (path) => !path.endsWith('.next') && statSync(join(source, path), { throwIfNoEntry: false })?.isFile(),
    );
}

function versionOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`;
}
