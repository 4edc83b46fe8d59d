import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'lmdb';
import { DATA_FILE, freeBytes, systemReason } from '../data_folder.js';

/** The default for the free space that commits leave to the file system. */
export const RESERVE_BYTES = 16 * 1024 * 1024;
/** The smallest step in which the data file grows ahead of its pages. */
const STEP_BYTES = 1024 * 1024;
const ZEROS = Buffer.alloc(STEP_BYTES);
/** The largest number of pages of a commit that belong to no table: the list of tables, and the growth of the list of free pages. */
const OTHER_PAGES = 64;

/** The sizes of a tree, in pages. */
export interface TreeStats {
  readonly pageSize: number;
  readonly treeDepth: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
}

interface FileStats extends TreeStats {
  readonly lastPageNumber: number;
  readonly free: TreeStats;
}

/**
 * Returns the largest number of pages that a commit can write for this many changes of a table. A change copies the pages from the root
 * to its leaf, and may split the leaf. Values need their own bytes, in pages that are at least half full.
 */
export function pagesOfChanges(table: Database, changes: number, recordBytes: number): number {
  if (changes === 0) return 0;
  const { pageSize, treeDepth, treeBranchPageCount, treeLeafPageCount } = table.getStats() as TreeStats;
  const copied = Math.min(changes * (treeDepth + 1), 2 * (treeBranchPageCount + treeLeafPageCount));
  return copied + Math.ceil((2 * recordBytes) / pageSize) + treeDepth + 1;
}

/**
 * The room on the disk for the commits of lmdb. When a write fails, lmdb 3.5 overruns a buffer of its heap, and the process may be
 * aborted (see the note of `scripts/deploy/README.md`). So lmdb must never write without room. A commit begins only while the file
 * system has its reserve.
 *
 * Other programs may fill the disk between that check and the write, and the free space does not include quotas. So this class first
 * writes zeros behind the last page, up to the last page that the commit can reach. A failure of this write is a plain error.
 */
export class DiskRoom {
  readonly #dir: string;
  readonly #reserveBytes: number;
  readonly #freeBytes: () => number;

  constructor(dir: string, reserveBytes = RESERVE_BYTES, free = () => freeBytes(dir)) {
    this.#dir = dir;
    this.#reserveBytes = reserveBytes;
    this.#freeBytes = free;
  }

  get freeBytes(): number {
    return this.#freeBytes();
  }

  /**
   * Reserves room for a commit.
   * @param pages the largest number of pages that the tables of the commit write
   * @throws Error when there is no room
   */
  claim(root: Database, pages: number): void {
    const { pageSize, lastPageNumber, free } = root.getStats() as FileStats;
    const freeList = free.treeBranchPageCount + free.treeLeafPageCount + free.overflowPages;
    const endPage = lastPageNumber + 1 + pages + 2 * freeList + OTHER_PAGES;
    const file = join(this.#dir, DATA_FILE);
    const { size } = statSync(file);
    const endBytes = Math.max(size, Math.ceil((endPage * pageSize) / STEP_BYTES) * STEP_BYTES);
    if (this.#freeBytes() < this.#reserveBytes + endBytes - size)
      throw new Error(
        `the disk is full: storage.reserve keeps ${Math.ceil(this.#reserveBytes / 1024)} KiB free`,
      );
    if (size < endBytes) extend(file, size, endBytes);
  }
}

function extend(file: string, size: number, endBytes: number): void {
  const handle = openSync(file, 'r+');
  try {
    for (let at = size; at < endBytes; )
      at += writeSync(handle, ZEROS, 0, Math.min(STEP_BYTES, endBytes - at), at);
  } catch (error) {
    throw new Error(`the data file cannot grow: ${systemReason(error)}`, { cause: error });
  } finally {
    closeSync(handle);
  }
}
