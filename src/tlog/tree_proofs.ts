import { isEqual } from './log_text.js';
import { emptyRoot, HASH_BYTES, nodeHash } from './tree_hash.js';

// The checks of proofs: RFC 9162 sections 2.1.3.2 and 2.1.4.2.

/** The place of an entry in a tree, with its proof. */
export interface Inclusion {
  readonly index: bigint;
  readonly size: bigint;
  /** The audit path: the leaf's sibling first, the root's child last. */
  readonly path: readonly Uint8Array[];
}

/** A tree: its number of entries and its root. */
export interface TreeHead {
  readonly size: bigint;
  readonly root: Uint8Array;
}

/** The largest number of hashes in a proof. */
export const PROOF_HASHES_MAX = 64;

/** A part of a tree: the entries from `start`, inclusive, to `end`, exclusive, and the root over them. */
export interface Subtree {
  readonly start: bigint;
  readonly end: bigint;
  readonly root: Uint8Array;
}

/** Returns whether the proof leads from the leaf's hash to the root. Never throws. */
export function isIncluded(leaf: Uint8Array, { index, size, path }: Inclusion, root: Uint8Array): boolean {
  return isInSubtree(leaf, { index, path }, { start: 0n, end: size, root });
}

/** Returns whether the proof shows that the newer tree begins with all entries of the older tree. Never throws. */
export function isConsistent(older: TreeHead, newer: TreeHead, proof: readonly Uint8Array[]): boolean {
  // Every tree begins with the empty tree. The newer root must still be a hash, and an empty tree has only one valid root.
  const isTree = newer.size > 0n ? areHashes([newer.root]) : isEqual(newer.root, emptyRoot());
  if (older.size === 0n && !isTree) return false;
  return isSubtreeOf({ start: 0n, end: older.size, root: older.root }, newer, proof);
}

/** Returns whether the proof leads from the leaf's hash to the root of a subtree. Never throws. */
export function isInSubtree(
  leaf: Uint8Array,
  { index, path }: Omit<Inclusion, 'size'>,
  { start, end, root }: Subtree,
): boolean {
  if (!isSubtree(start, end) || index < start || index >= end || !areHashes([leaf, root, ...path]))
    return false;
  let [node, last] = [index - start, end - start - 1n];
  let hash = leaf;
  for (const sibling of path) {
    if (last === 0n) return false;
    const isRight = isOdd(node) || node === last;
    hash = isRight ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
    const levels = 1n + (isRight ? trailingZeros(node) : 0n);
    [node, last] = [node >> levels, last >> levels];
  }
  return last === 0n && isEqual(hash, root);
}

/**
 * Returns whether the proof shows that the tree contains the subtree's entries at the same place. Never throws. A subtree that starts at 0
 * is an older tree.
 */
export function isSubtreeOf(
  { start, end, root }: Subtree,
  tree: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (start < 0n || end > tree.size) return false;
  if (start === end) return proof.length === 0 && isEqual(root, emptyRoot());
  if (start === 0n && end === tree.size) return proof.length === 0 && isEqual(root, tree.root);
  if (!isSubtree(start, end) || !areHashes([root, tree.root, ...proof])) return false;
  // The first and the last node of the subtree in a level, and the last node of the tree.
  let [first, last, treeLast] = [start, end - 1n, tree.size - 1n];
  const up = (levels: bigint): void => {
    [first, last, treeLast] = [first >> levels, last >> levels, treeLast >> levels];
  };
  const isRightEdge = last === treeLast;
  while (first !== last && (isRightEdge || isOdd(last))) up(1n);
  // If the subtree is a node of the tree, the path begins at this node. Otherwise the proof begins with the largest node on the
  // subtree's right edge.
  const [hash0, others] = first === last ? [root, proof] : [proof[0], proof.slice(1)];
  if (hash0 === undefined) return false;
  let [subtreeHash, treeHash] = [hash0, hash0];
  for (const hash of others) {
    if (treeLast === 0n) return false;
    const isRight = isOdd(last) || last === treeLast;
    if (isRight && first < last) subtreeHash = nodeHash(hash, subtreeHash);
    treeHash = isRight ? nodeHash(hash, treeHash) : nodeHash(treeHash, hash);
    up(1n + (isRight ? trailingZeros(last) : 0n));
  }
  return treeLast === 0n && isEqual(subtreeHash, root) && isEqual(treeHash, tree.root);
}

/**
 * Returns whether a range of entries is a valid subtree: `start` must be a multiple of the smallest power of two that is not below the
 * length.
 */
function isSubtree(start: bigint, end: bigint): boolean {
  if (start < 0n || end <= start) return false;
  const power = 1n << BigInt(end - start === 1n ? 0 : (end - start - 1n).toString(2).length);
  return start % power === 0n;
}

function isOdd(node: bigint): boolean {
  return (node & 1n) === 1n;
}

/** Returns the number of trailing zero bits. A last node without a sibling moves up by this number of levels. */
function trailingZeros(node: bigint): bigint {
  return node === 0n ? 0n : BigInt((node & -node).toString(2).length - 1);
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.length <= PROOF_HASHES_MAX + 2 && hashes.every(({ length }) => length === HASH_BYTES);
}
