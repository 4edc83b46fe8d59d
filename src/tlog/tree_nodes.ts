import { emptyRoot, nodeHash, type Sha256 } from './tree_hash.js';

// The nodes that roots and proofs consist of. These nodes are full subtrees, because only the hash of a full subtree never changes.

/** The root of a full subtree with `2^level` leaves. `index` subtrees of the same level are on its left. */
export interface TreeNode {
  readonly level: number;
  readonly index: bigint;
}

/** Returns the hash of a node of the tree. */
export type NodeReader = (node: TreeNode) => Uint8Array;

/** A range of leaves from `start`, inclusive, to `end`, exclusive. */
type LeafRange = readonly [start: bigint, end: bigint];

/** Returns the root of the tree of this size. */
export function treeRoot(size: bigint, read: NodeReader, sha256?: Sha256): Uint8Array {
  return size === 0n ? emptyRoot() : rangeHash([0n, size], read, sha256);
}

/** Returns the audit path of the entry `index` in a tree of `size` entries, where `index < size`. */
export function inclusionPath(index: bigint, size: bigint, read: NodeReader, sha256?: Sha256): Uint8Array[] {
  return inclusionRanges(index, size).map((range) => rangeHash(range, read, sha256));
}

/** Returns the proof that the tree of `newer` entries begins with the tree of `older` entries, where `older <= newer`. */
export function consistencyProof(
  older: bigint,
  newer: bigint,
  read: NodeReader,
  sha256?: Sha256,
): Uint8Array[] {
  return consistencyRanges(older, newer).map((range) => rangeHash(range, read, sha256));
}

/** Returns the nodes that {@link treeRoot} reads. */
export function nodesOfRoot(size: bigint): TreeNode[] {
  return nodesIn([0n, size]);
}

/** Returns the nodes that {@link inclusionPath} reads. */
export function nodesOfInclusion(index: bigint, size: bigint): TreeNode[] {
  return inclusionRanges(index, size).flatMap(nodesIn);
}

/** Returns the nodes that {@link consistencyProof} reads. */
export function nodesOfConsistency(older: bigint, newer: bigint): TreeNode[] {
  return consistencyRanges(older, newer).flatMap(nodesIn);
}

function inclusionRanges(index: bigint, size: bigint): LeafRange[] {
  const ranges: LeafRange[] = [];
  let [start, end] = [0n, size];
  while (end - start > 1n) {
    const middle = start + largestPowerBelow(end - start);
    if (index < middle) {
      ranges.push([middle, end]);
      end = middle;
    } else {
      ranges.push([start, middle]);
      start = middle;
    }
  }
  return ranges.reverse();
}

function consistencyRanges(older: bigint, newer: bigint): LeafRange[] {
  if (older === 0n) return [];
  const ranges: LeafRange[] = [];
  let [start, end] = [0n, newer];
  while (older < end) {
    const middle = start + largestPowerBelow(end - start);
    if (older <= middle) {
      ranges.push([middle, end]);
      end = middle;
    } else {
      ranges.push([start, middle]);
      start = middle;
    }
  }
  // The range of the whole older tree is left out, because the reader already knows the older root.
  if (start > 0n) ranges.push([start, end]);
  return ranges.reverse();
}

/** Returns the hash of a range, which is a node of the tree or a part of its right edge. */
function rangeHash(range: LeafRange, read: NodeReader, sha256?: Sha256): Uint8Array {
  return nodesIn(range)
    .map(read)
    .reduceRight((right, left) => nodeHash(left, right, sha256));
}

/** Splits a range into full subtrees, the largest and leftmost first. */
function nodesIn([start, end]: LeafRange): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let at = start; at < end; ) {
    const level = (end - at).toString(2).length - 1;
    nodes.push({ level, index: at >> BigInt(level) });
    at += 1n << BigInt(level);
  }
  return nodes;
}

/** Returns the largest power of two below `count`, which is at least 2. */
function largestPowerBelow(count: bigint): bigint {
  return 1n << BigInt((count - 1n).toString(2).length - 1);
}
