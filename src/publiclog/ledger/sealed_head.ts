import { join } from 'node:path';
import { isEqual } from '../../tlog/log_text.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import { nodesFromTiles } from '../../tlog/tiles.js';
import {
  type Checkpoint,
  formatCheckpoint,
  type LogHead,
  parseCheckpoint,
} from '../../tlog/tree_checkpoint.js';
import { treeRoot } from '../../tlog/tree_nodes.js';
import type { TreeHead } from '../../tlog/tree_proofs.js';
import { readIfExists, readTileSync, writeDurably } from './ledger_folder.js';

/**
 * A tree on disk, with the origin of its log. `sealed` is the tree in the public files. `signed` is the largest tree with a signed
 * checkpoint. The file of `signed` is on disk before anybody sees the checkpoint.
 */
export type HeadName = 'sealed' | 'signed';

/** Reads a head. Returns `undefined` when the file is missing. @throws TlogError when the file is damaged */
export function readHead(stateFolder: string, name: HeadName): Checkpoint | undefined {
  const bytes = readIfExists(join(stateFolder, name));
  return bytes && parseCheckpoint(bytes.toString());
}

/** Resolves when the head is on disk. */
export async function writeHead(stateFolder: string, name: HeadName, head: LogHead): Promise<void> {
  await writeDurably(stateFolder, [{ path: name, bytes: Buffer.from(formatCheckpoint(head)) }]);
}

/** Returns whether the tree in the public files begins with an older tree. Computes the root from the files. */
export function beginsWith(publicFolder: string, tree: TreeHead, older: TreeHead): boolean {
  if (older.size > tree.size) return false;
  const read = nodesFromTiles(older.size, (tile) => readTileSync(publicFolder, tile), nodeSha256);
  try {
    return isEqual(treeRoot(older.size, read, nodeSha256), older.root);
  } catch {
    // A tile is missing or incomplete.
    return false;
  }
}
