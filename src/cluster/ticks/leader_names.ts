import { type AssetKey, type IdentifiedAsset, IdMapping } from './id_mapping.js';
import { decodeNames, encodeNamesQuery, nextIdAfter } from './names.js';

/**
 * What streaming IDs mean in the ticks of a leader, which names their taxonomy by its hash: that of this node, or another one that the
 * leader is asked for page by page.
 */
export class LeaderNames {
  readonly #own: () => IdMapping;
  #known: IdMapping;
  /** The hash of the taxonomy that is asked for. */
  #wanted: bigint | undefined;
  #pages: IdentifiedAsset[] = [];
  #nextId = 0;

  /** @param own that of this node, as it is configured now */
  constructor(own: () => IdMapping) {
    this.#own = own;
    this.#known = own();
  }

  /** Whether {@link keyOf} is right for ticks with this hash. From now on this is the one that matters. */
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

  /** What to ask the leader; `undefined` when nothing is to be asked. */
  get query(): Uint8Array | undefined {
    return this.#wanted === undefined ? undefined : encodeNamesQuery(this.#nextId);
  }

  /** The leader has answered {@link query}. @returns whether that helped: the next question can follow at once */
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
    // The leader may have been reloaded while it answered.
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
