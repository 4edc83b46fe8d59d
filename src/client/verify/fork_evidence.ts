import { isEqual, toBase64 } from '../../tlog/log_text.js';
import type { Sha256 } from '../../tlog/tree_hash.js';
import {
  consistencyProof,
  type NodeReader,
  nodesOfConsistency,
  nodesOfRoot,
  type TreeNode,
  treeRoot,
} from '../../tlog/tree_nodes.js';
import { isConsistent, type TreeHead } from '../../tlog/tree_proofs.js';
import type { Evidence } from './evidence_file.js';

/** A checked checkpoint, and its signed text. */
export interface SignedHead {
  readonly note: string;
  readonly head: TreeHead;
}

/**
 * Returns evidence that two checkpoints of a log are inconsistent. Returns `undefined` for consistent checkpoints, and for nodes that
 * prove nothing.
 * @param readNodes reads nodes of the larger tree, which has this size
 */
export async function forkEvidence(
  one: SignedHead,
  other: SignedHead,
  readNodes: (nodes: readonly TreeNode[], size: bigint) => Promise<NodeReader> | NodeReader,
  sha256?: Sha256,
): Promise<Evidence | undefined> {
  const [older, newer] = one.head.size < other.head.size ? [one, other] : [other, one];
  const { size } = older.head;
  if (size === 0n) return undefined;
  const isSame = size === newer.head.size;
  const nodes = isSame ? [] : [...nodesOfRoot(size), ...nodesOfConsistency(size, newer.head.size)];
  const read = await readNodes(nodes, newer.head.size);
  const root = isSame ? newer.head.root : treeRoot(size, read, sha256);
  const proof = isSame ? [] : consistencyProof(size, newer.head.size, read, sha256);
  if (isEqual(root, older.head.root) || !isConsistent({ size, root }, newer.head, proof)) return undefined;
  const checkpoints: [string, string] = [older.note, newer.note];
  return { kind: 'fork', checkpoints, root: toBase64(root), proof: proof.map(toBase64) };
}
