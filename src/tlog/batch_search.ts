import { type BatchEntry, parseBatchEntry } from './batch_entry.js';

/** A batch with the bytes of its entry. */
export interface FoundBatch {
  readonly entry: Uint8Array;
  readonly batch: BatchEntry;
}

/**
 * Finds the batch that contains a time. There are no gaps between batches.
 * @param read returns the entry with an index below `size`
 * @returns `earlier` or `later` when the time is before or after all batches
 */
export async function findBatch(
  timeNs: bigint,
  size: bigint,
  read: (index: bigint) => Promise<Uint8Array>,
): Promise<FoundBatch | 'earlier' | 'later'> {
  let [low, high] = [0n, size];
  while (low < high) {
    const middle = (low + high) / 2n;
    const entry = await read(middle);
    const batch = parseBatchEntry(entry);
    if (timeNs < batch.fromNs) high = middle;
    else if (timeNs >= batch.toNs) low = middle + 1n;
    else return { entry, batch };
  }
  return low === 0n && size > 0n ? 'earlier' : 'later';
}
