import { CompactTree, type TreePeak } from '../../tlog/compact_tree.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import { nodeHash } from '../../tlog/tree_hash.js';
import type { NodeReader } from '../../tlog/tree_nodes.js';

/** The number of leaves up to which the tree forgets none: an hour of batches, one a second. */
const LEAVES_KEPT = 4_096;

/**
 * The tree of a log with its newest leaves. With these leaves an audit compares its own tree with an older checkpoint, without a tile of
 * the log: a log that has forked serves no tiles of its other tree.
 */
export class RecentTree {
  readonly #tree: CompactTree;
  /** The tree before the kept leaves. */
  readonly #before: CompactTree;
  #leaves: Uint8Array[] = [];

  constructor(peaks: readonly TreePeak[] = []) {
    this.#tree = new CompactTree(peaks, nodeSha256);
    this.#before = new CompactTree(peaks, nodeSha256);
  }

  get size(): bigint {
    return this.#tree.size;
  }

  get peaks(): readonly TreePeak[] {
    return this.#tree.peaks;
  }

  /** The smallest size for which {@link read} has all nodes. */
  get knownFrom(): bigint {
    return this.#before.size;
  }

  root(): Uint8Array {
    return this.#tree.root();
  }

  append(leaf: Uint8Array): void {
    this.#tree.append(leaf);
    this.#leaves.push(leaf);
    if (this.#leaves.length < 2 * LEAVES_KEPT) return;
    for (const one of this.#leaves.slice(0, LEAVES_KEPT)) this.#before.append(one);
    this.#leaves = this.#leaves.slice(LEAVES_KEPT);
  }

  /** Reads a node of the tree. @throws RangeError for a node that the tree has forgotten */
  readonly read: NodeReader = ({ level, index }) => {
    const before = this.#before.size;
    const start = index << BigInt(level);
    const end = (index + 1n) << BigInt(level);
    if (end <= before) return this.#peakAt(level, start);
    if (level === 0) return this.#leaves[Number(start - before)]!;
    const left = this.read({ level: level - 1, index: 2n * index });
    return nodeHash(left, this.read({ level: level - 1, index: 2n * index + 1n }), nodeSha256);
  };

  #peakAt(level: number, start: bigint): Uint8Array {
    let at = 0n;
    for (const peak of this.#before.peaks) {
      if (at === start && peak.level === level) return peak.hash;
      at += 1n << BigInt(peak.level);
    }
    throw new RangeError(`the node of level ${level} at ${start} is not kept`);
  }
}
