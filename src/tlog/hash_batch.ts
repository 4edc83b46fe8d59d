import { type BatchEntry, hasRoot } from './batch_entry.js';
import { TlogError } from './tlog_error.js';
import { HASH_BYTES, type Sha256 } from './tree_hash.js';

// A log of streaming payloads: the records of its batches are the Keccak-256 hashes of the bodies that a node signed.

/** Splits the records of a batch into hashes. @throws TlogError unless the hashes are complete, sorted and unique, and those of the entry */
export function hashesOfBatch(entry: BatchEntry, bytes: Uint8Array, sha256?: Sha256): Uint8Array[] {
  if (bytes.length % HASH_BYTES !== 0) throw new TlogError('a batch does not consist of whole hashes');
  const hashes = Array.from({ length: bytes.length / HASH_BYTES }, (_, i) =>
    bytes.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  );
  hashes.forEach((hash, i) => {
    if (i > 0 && !isBefore(hashes[i - 1]!, hash)) throw new TlogError(`hash ${i} of a batch is not in order`);
  });
  if (!hasRoot(entry, hashes, sha256))
    throw new TlogError(`the hashes of batch ${entry.batch} are not those of its entry`);
  return hashes;
}

function isBefore(a: Uint8Array, b: Uint8Array): boolean {
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at >= 0 && a[at]! < b[at]!;
}
