import { leafHash, nodeHash } from '../../src/tlog/tree_hash.js';
import type { NodeReader } from '../../src/tlog/tree_nodes.js';

/** The folder of the recorded data, next to the repository. */
export const TLOG_VECTORS = '../shared/vectors/tlog';

/** The entries of the test log of transparency-dev/tessera, and their checkpoint of size 15. */
export const TESSERA_ENTRIES =
  'one two three four five six seven eit nain ten ileven twelf threeten fourten fivten'
    .split(' ')
    .map((word) => new TextEncoder().encode(word));
export const TESSERA_KEY = 'example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx';
export const TESSERA_CHECKPOINT = `example.com/log/testdata
15
rKbDipCvhuX1GZ7g5BBe8sA6BbJ7ja/1nk427v383cs=

— example.com/log/testdata M9e0luh4jTG+UMBqOUo9/q+yAEvx1ilBEniMvjf1zfcBOhg+CKubMt53MvIt/uEWP6zdkdIQzd/fmwlM/dlPWF74ewI=
`;

/** Returns entries that differ. */
export function numberedEntries(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => new TextEncoder().encode(`entry ${i}`));
}

/** Reads the nodes of the tree of these entries. */
export function nodesOfEntries(entries: readonly Uint8Array[]): NodeReader {
  const levels = [entries.map((entry) => leafHash(entry))];
  for (let below = levels[0]!; below.length > 1; levels.push(below)) {
    const children = below;
    below = Array.from({ length: Math.floor(children.length / 2) }, (_, i) =>
      nodeHash(children[2 * i]!, children[2 * i + 1]!),
    );
  }
  return ({ level, index }) => levels[level]![Number(index)]!;
}
