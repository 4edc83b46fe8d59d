import type { Evidence } from '../client/verify/evidence_file.js';
import type { ServedLog } from '../client/verify/served_log.js';
import { verifyByNode } from '../tlog/ed25519_key.js';
import type { LogPolicy } from '../tlog/log_policy.js';
import { isEqual, toBase64 } from '../tlog/log_text.js';
import { nodeSha256 } from '../tlog/node_sha256.js';
import { openCheckpoint } from '../tlog/open_checkpoint.js';
import { consistencyProof, nodesOfConsistency, nodesOfRoot, treeRoot } from '../tlog/tree_nodes.js';
import { isConsistent, type TreeHead } from '../tlog/tree_proofs.js';
import type { RecentTree } from './recent_tree.js';

/** The sources of the nodes that a proof needs. */
export interface ForkSources {
  readonly log: ServedLog;
  readonly policy: LogPolicy;
  readonly tree: RecentTree;
}

/**
 * Returns evidence that a checkpoint is inconsistent with a checked checkpoint. The nodes of the larger tree come from the audit's own
 * tree, or from the tiles of the log. Returns `undefined` for consistent checkpoints, and for tiles that prove nothing.
 * @param own the newest checked checkpoint, or the checked one of the same size
 */
export async function forkFrom(
  head: TreeHead,
  note: string,
  own: string,
  { log, policy, tree }: ForkSources,
): Promise<Evidence | undefined> {
  const kept = (await openCheckpoint(own, policy, verifyByNode)).checkpoint;
  const isOlder = head.size < kept.size;
  const [older, newer] = isOlder ? [head, kept] : [kept, head];
  const checkpoints: [string, string] = isOlder ? [note, own] : [own, note];
  if (older.size === 0n) return undefined;
  const isSame = older.size === newer.size;
  const nodes = isSame ? [] : [...nodesOfRoot(older.size), ...nodesOfConsistency(older.size, newer.size)];
  const isOwn = isOlder && older.size >= tree.knownFrom;
  const read = isOwn ? tree.read : await log.nodes(nodes, newer.size);
  const root = isSame ? newer.root : treeRoot(older.size, read, nodeSha256);
  const proof = isSame ? [] : consistencyProof(older.size, newer.size, read, nodeSha256);
  if (isEqual(root, older.root) || !isConsistent({ size: older.size, root }, newer, proof)) return undefined;
  return { kind: 'fork', checkpoints, root: toBase64(root), proof: proof.map(toBase64) };
}
