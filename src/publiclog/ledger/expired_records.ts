import { readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseBatchEntry } from '../../tlog/batch_entry.js';
import { bundleOf, readBundle, TILE_WIDTH } from '../../tlog/tiles.js';
import { BATCH_FOLDER, batchPath, readTileSync } from './ledger_folder.js';

/** The number of batches whose records one call removes, in addition to two batches for each new batch. */
const REMOVED_MAX = 256;

/**
 * Removes the records of batches that are older than the retention. Ages are relative to the end of the last batch, so a log without new
 * batches keeps its records. Entries and tiles stay for ever. So the tree can be checked without the records, and existing proofs stay
 * valid.
 */
export class ExpiredRecords {
  readonly #folder: string;
  readonly #retentionNs: bigint;
  /** The end of the oldest batch with records. Because of this value, most calls read no file. */
  #oldestEndNs: bigint | undefined;

  constructor(publicFolder: string, retentionNs: bigint) {
    this.#folder = publicFolder;
    this.#retentionNs = retentionNs;
  }

  /**
   * Removes the expired records, the oldest first. The rest of a long backlog waits for the next calls.
   * @param size the number of batches in the public files
   * @param endNs the end of the last of these batches
   * @param added the number of batches since the last call
   */
  async remove(size: bigint, endNs: bigint, added: number): Promise<void> {
    const beforeNs = endNs - this.#retentionNs;
    if (this.#oldestEndNs !== undefined && this.#oldestEndNs > beforeNs) return;
    const endOf = this.#endsOfBatches(size);
    const folders = new Set<string>();
    let left = REMOVED_MAX + 2 * added;
    for await (const batch of storedBatches(join(this.#folder, BATCH_FOLDER), size)) {
      this.#oldestEndNs = endOf(batch);
      if (this.#oldestEndNs > beforeNs || left === 0) break;
      const path = join(this.#folder, batchPath(batch));
      await rm(path, { force: true });
      folders.add(dirname(path));
      left -= 1;
    }
    for (const folder of folders) await this.#removeEmpty(folder);
  }

  /** Returns a function from a batch to its end. The function keeps only the last bundle in memory, because the calls come in order. */
  #endsOfBatches(size: bigint): (batch: bigint) => bigint {
    let index: bigint | undefined;
    let entries: Uint8Array[] = [];
    return (batch) => {
      const bundle = bundleOf(batch, size);
      if (bundle.index !== index) {
        entries = readBundle(readTileSync(this.#folder, bundle), bundle.width);
        ({ index } = bundle);
      }
      return parseBatchEntry(entries[Number(batch % BigInt(TILE_WIDTH))]!).toNs;
    };
  }

  /** Removes a folder, and its parent folders, if they are empty now. */
  async #removeEmpty(folder: string): Promise<void> {
    const top = join(this.#folder, BATCH_FOLDER);
    for (let at = folder; at !== top; at = dirname(at)) {
      try {
        await rmdir(at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') return;
        throw error;
      }
    }
  }
}

/** Lists the batches below `size` that have records, in ascending order. */
async function* storedBatches(folder: string, size: bigint): AsyncGenerator<bigint> {
  // A path with fewer groups of digits belongs to a smaller index.
  const groupsMax = Math.ceil(String(size).length / 3);
  for (let groups = 1; groups <= groupsMax; groups += 1)
    for await (const batch of batchesOf(folder, groups, 0n)) {
      if (batch >= size) return;
      yield batch;
    }
}

async function* batchesOf(folder: string, groups: number, above: bigint): AsyncGenerator<bigint> {
  const names = await namesIn(folder);
  const form = groups === 1 ? /^\d{3}$/ : /^x\d{3}$/;
  for (const name of names.filter((one) => form.test(one)).sort()) {
    const index = above * 1_000n + BigInt(name.slice(-3));
    if (groups === 1) yield index;
    else yield* batchesOf(join(folder, name), groups - 1, index);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
