import assert from 'node:assert/strict';
import { keccak256Into } from './keccak.js';

/**
 * Returns the `publisher_merkle_root` of the publishers' message hashes in the order of `signed_prices`. A parent is
 * keccak(left, right). If a level has an odd number of nodes, its last node is repeated. A single leaf is its own
 * root.
 * @param leaves at least one leaf, 32 bytes each; a Stark hash in its big-endian form.
 * @returns 32 new bytes.
 */
export function merkleRoot(leaves: readonly Uint8Array[]): Buffer {
  assert(leaves.length > 0, 'a Merkle root needs a leaf');
  // The buffer has space for one additional node, because an odd level repeats its last node.
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
    // Parent i overwrites its left child or an earlier node. No later step needs these nodes.
    for (let i = 0; i < count; i++) {
      keccak256Into(nodes.subarray(2 * i * NODE_BYTES, 2 * (i + 1) * NODE_BYTES), nodes, i * NODE_BYTES);
    }
  }
  return nodes.subarray(0, NODE_BYTES);
}

const NODE_BYTES = 32;
