import { batchPath, type FileToWrite } from './ledger_folder.js';
import type { HashedRecord } from './waiting_records.js';

/** A batch that is not in the public files yet. The records are absent when they do not match the root of the entry. */
export interface UnsealedBatch {
  readonly entry: Uint8Array;
  readonly records: readonly HashedRecord[] | undefined;
}

/** Returns the files with the records of batches. @param older the number of the first of these batches */
export function batchFiles(batches: readonly UnsealedBatch[], older: bigint): FileToWrite[] {
  return batches.flatMap(({ records }, i) =>
    records === undefined
      ? []
      : [{ path: batchPath(older + BigInt(i)), bytes: Buffer.concat(records.map(({ inBatch }) => inBatch)) }],
  );
}
