import { type AssetKey, type IdentifiedAsset, IdMapping } from './id_mapping.js';
import { decodeNames, encodeNamesQuery, nextIdAfter } from './names.js';

/**
 * The meaning of streaming IDs in the ticks of a leader, which names its taxonomy by a hash. The taxonomy is that of this node,
 * or another one that this node requests from the leader page by page.
 */
export class LeaderNames {
  readonly #own: () => IdMapping;
  #known: IdMapping;
  /** The hash of the requested taxonomy. */
  #wanted: bigint | undefined;
  #pages: IdentifiedAsset[] = [];
  #nextId = 0;

  /** @param own returns the mapping of this node, in its present configuration */
  constructor(own: () => IdMapping) {
    this.#own = own;
    this.#known = own();
  }

  /** Tells whether {@link keyOf} is right for ticks with this hash. From now on this hash is the current one. */
  areKnown(hash: bigint): boolean {
    if (this.#known.hash !== hash) {
      const own = this.#own();
      if (own.hash !== hash) {
        this.#want(hash);
        return false;
      }
      this.#known = own;
    }
    this.#wanted = undefined;
    return true;
  }

  keyOf(streamingId: number): AssetKey | undefined {
    return this.#known.keyOf(streamingId);
  }

  /** The next query to the leader; `undefined` if none is needed. */
  get query(): Uint8Array | undefined {
    return this.#wanted === undefined ? undefined : encodeNamesQuery(this.#nextId);
  }

  /** Reads the leader's answer to {@link query}. @returns true when the answer helped: the next query can follow at once */
  answered(bytes: Uint8Array): boolean {
    const wanted = this.#wanted;
    const page = decodeNames(bytes);
    if (wanted === undefined || page === undefined) return false;
    this.#pages.push(...page.assets.filter(({ id }) => id >= this.#nextId));
    const nextId = nextIdAfter(page);
    if (nextId !== undefined && nextId > this.#nextId) {
      this.#nextId = nextId;
      return true;
    }
    const taxonomy = new IdMapping(this.#pages);
    this.#restart();
    // The leader may have been reloaded during its answer.
    if (taxonomy.hash !== wanted) return false;
    this.#known = taxonomy;
    this.#wanted = undefined;
    return true;
  }

  #want(hash: bigint): void {
    if (this.#wanted === hash) return;
    this.#wanted = hash;
    this.#restart();
  }

  #restart(): void {
    this.#pages = [];
    this.#nextId = 0;
  }
}
