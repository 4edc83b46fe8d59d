import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { indexPath, readBundle, TILE_WIDTH, type Tile, tilePath, writeBundle } from '../../tlog/tiles.js';
import { HASH_BYTES } from '../../tlog/tree_hash.js';

/** The name of the published checkpoint below the folder of the public files. */
export const CHECKPOINT_FILE = 'checkpoint';

/** Returns the folder of the public files, which any web server may serve unchanged. */
export function publicFolderOf(dataFolder: string): string {
  return join(dataFolder, 'tlog');
}

/**
 * Returns the folder of the files that only this program reads. It is beside the public folder, and no reader of the log needs its files.
 */
export function stateFolderOf(dataFolder: string): string {
  return join(dataFolder, 'tlog-state');
}

/** Returns the folder that has the log of streaming payloads, in the same two folders as a data folder has the log of prices. */
export function streamsFolderOf(dataFolder: string): string {
  return join(dataFolder, 'streams');
}

/** The folder of the records of batches below the public folder. */
export const BATCH_FOLDER = 'batch';

/** Returns the path of a batch's records below the public folder. */
export function batchPath(batch: bigint): string {
  return `${BATCH_FOLDER}/${indexPath(batch)}`;
}

/** A file to write: its path below a folder, and its bytes. */
export interface FileToWrite {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Writes files one by one. After a crash each file is complete or missing. Resolves when all files are on disk. */
export async function writeDurably(folder: string, files: readonly FileToWrite[]): Promise<void> {
  const folders = new Set<string>();
  for (const { path, bytes } of files) {
    const target = join(folder, path);
    const made = await mkdir(dirname(target), { recursive: true });
    const unfinished = `${target}.unfinished`;
    const file = await open(unfinished, 'w', 0o644);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, target);
    // The parent folder contains the name of a new folder, so the parent folder is flushed too.
    for (let at = dirname(target); at.length >= folder.length; at = dirname(at)) {
      folders.add(at);
      if (made === undefined) break;
    }
  }
  for (const path of folders) await syncFolder(path);
}

/** Flushes the names in a folder. */
async function syncFolder(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Returns the bytes of a file; `undefined` if the file does not exist. */
export function readIfExists(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the bytes of a tile. A wider tile also contains the bytes of a partial tile. */
export function readTileSync(folder: string, tile: Tile): Uint8Array {
  const path = join(folder, tilePath(tile));
  if (existsSync(path) || tile.width === TILE_WIDTH) return readFileSync(path);
  const wider = { ...tile, width: widerWidth(folder, tile) };
  return cutTile(tile, readFileSync(join(folder, tilePath(wider))), wider.width);
}

/**
 * Returns the width of a stored tile that begins with this partial tile. A node that applies several batches at once writes only the tiles
 * of the last tree, and a checkpoint may have a smaller tree.
 */
export function widerWidth(folder: string, tile: Tile): number {
  const full = join(folder, tilePath({ ...tile, width: TILE_WIDTH }));
  if (existsSync(full) || !existsSync(`${full}.p`)) return TILE_WIDTH;
  const widths = readdirSync(`${full}.p`).filter((name) => /^\d{1,3}$/.test(name));
  return widths.map(Number).find((width) => width > tile.width) ?? TILE_WIDTH;
}

/** Returns the bytes of a partial tile from the bytes of a wider tile. */
export function cutTile({ level, width }: Tile, full: Uint8Array, fullWidth: number): Uint8Array {
  return level === 'entries'
    ? writeBundle(readBundle(full, fullWidth).slice(0, width))
    : full.subarray(0, width * HASH_BYTES);
}

/** Removes the partial tiles of a full tile, because readers use the full tile. */
export async function removePartials(folder: string, tile: Tile): Promise<void> {
  await rm(join(folder, `${tilePath({ ...tile, width: TILE_WIDTH })}.p`), { recursive: true, force: true });
}

/** Makes both folders. */
export function makeLedgerFolders(publicFolder: string, stateFolder: string): void {
  mkdirSync(publicFolder, { recursive: true, mode: 0o755 });
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 });
}
