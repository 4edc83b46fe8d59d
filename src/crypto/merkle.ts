import assert from 'node:assert/strict';
import { keccak256Into } from './keccak.js';

/**
 * Returns the `publisher_merkle_root` over the publishers' message hashes in the order of `signed_prices`: a parent is
 * keccak(left, right), an odd level repeats its last node, and a single leaf is its own root.
 * @param leaves at least one, 32 bytes each; a Stark hash in its big-endian form.
 * @returns 32 fresh bytes.
 */
export function merkleRoot(leaves: readonly Uint8Array[]): Buffer {
  assert(leaves.length > 0, 'a Merkle root needs a leaf');
  // Room for one more node, the repeated last node of an odd level.
  const nodes = Buffer.allocUnsafe((leaves.length + 1) * NODE_BYTES);
  leaves.forEach((leaf, i) => {
    nodes.set(leaf, i * NODE_BYTES);
  });
  let count = leaves.length;
  while (count > 1) {
    if (count % 2 === 1) {
      nodes.copyWithin(count * NODE_BYTES, (count - 1) * NODE_BYTES, count * NODE_BYTES);
      count += 1;
    }
    count /= 2;
    // Parent i overwrites its left child or an earlier node; neither is needed any more.
    for (let i = 0; i < count; i++) {
      keccak256Into(nodes.subarray(2 * i * NODE_BYTES, 2 * (i + 1) * NODE_BYTES), nodes, i * NODE_BYTES);
    }
  }
  return nodes.subarray(0, NODE_BYTES);
}

const NODE_BYTES = 32;
