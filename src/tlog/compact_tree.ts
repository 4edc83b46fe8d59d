import { emptyRoot, nodeHash, type Sha256 } from './tree_hash.js';

/** The root of a full subtree. */
export interface TreePeak {
  readonly level: number;
  readonly hash: Uint8Array;
}

/** A tree that keeps only its largest full subtrees. These suffice to append entries and to compute the root. */
export class CompactTree {
  readonly #sha256: Sha256 | undefined;
  readonly #peaks: TreePeak[];

  /** @param peaks the full subtrees, the largest and leftmost first */
  constructor(peaks: readonly TreePeak[] = [], sha256?: Sha256) {
    this.#peaks = [...peaks];
    this.#sha256 = sha256;
  }

  get peaks(): readonly TreePeak[] {
    return this.#peaks;
  }

  get size(): bigint {
    return this.#peaks.reduce((size, { level }) => size + (1n << BigInt(level)), 0n);
  }

  /** Appends the hash of a leaf. */
  append(leaf: Uint8Array): void {
    let peak: TreePeak = { level: 0, hash: leaf };
    while (this.#peaks.at(-1)?.level === peak.level) {
      const left = this.#peaks.pop()!;
      peak = { level: peak.level + 1, hash: nodeHash(left.hash, peak.hash, this.#sha256) };
    }
    this.#peaks.push(peak);
  }

  root(): Uint8Array {
    if (this.#peaks.length === 0) return emptyRoot();
    return this.#peaks
      .map(({ hash }) => hash)
      .reduceRight((right, left) => nodeHash(left, right, this.#sha256));
  }
}
