import { type AssetKey, type IdentifiedAsset, IdMapping } from './id_mapping.js';
import { decodeNames, encodeNamesQuery, nextIdAfter } from './names.js';

/**
 * The meaning of the streaming IDs in a leader's ticks. Each tick has a hash of the leader's taxonomy. If this taxonomy differs from this
 * node's own, the node requests the leader's taxonomy page by page.
 */
export class LeaderNames {
  readonly #own: () => IdMapping;
  #known: IdMapping;
  /** The hash of the taxonomy that is being requested. */
  #wanted: bigint | undefined;
  #pages: IdentifiedAsset[] = [];
  #nextId = 0;

  /** @param own returns the mapping of this node's current configuration */
  constructor(own: () => IdMapping) {
    this.#own = own;
    this.#known = own();
  }

  /** Makes this hash the current hash. Returns true if {@link keyOf} is correct for ticks with this hash. */
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

  /** The next query for the leader; `undefined` if no query is needed. */
  get query(): Uint8Array | undefined {
    return this.#wanted === undefined ? undefined : encodeNamesQuery(this.#nextId);
  }

  /**
   * Reads the leader's answer to {@link query}.
   * @returns true when the answer was useful and the next query can follow immediately
   */
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
    // The leader may have reloaded its configuration between two pages.
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
