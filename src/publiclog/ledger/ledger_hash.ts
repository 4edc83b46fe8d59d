import { setImmediate as endOfTurn } from 'node:timers/promises';
import { isEqual } from '../../tlog/log_text.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import { emptyRoot, nodeHash } from '../../tlog/tree_hash.js';

/** The number of hashes in a turn of the event loop. Computing them takes 0.3 ms, and delays a price by at most this time. */
const HASHES_PER_TURN = 200;

/** Returns the root over leaf hashes. The event loop can do other work between the turns. */
export async function rootInTurns(leaves: readonly Uint8Array[]): Promise<Uint8Array> {
  let level = leaves;
  let left = HASHES_PER_TURN;
  while (level.length > 1) {
    const parents: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const right = level[i + 1];
      parents.push(right === undefined ? level[i]! : nodeHash(level[i]!, right, nodeSha256));
      left -= 1;
      if (left > 0) continue;
      await endOfTurn();
      left = HASHES_PER_TURN;
    }
    level = parents;
  }
  return level[0] ?? emptyRoot();
}

/** Returns whether these leaf hashes have this root. */
export async function isRootOf(
  records: readonly { readonly leaf: Uint8Array }[],
  { root }: { readonly root: Uint8Array },
): Promise<boolean> {
  return isEqual(await rootInTurns(records.map(({ leaf }) => leaf)), root);
}
