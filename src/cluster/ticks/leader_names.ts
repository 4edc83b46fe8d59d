import type { MappedAsset } from '../../wire/taxonomy_statement.js';
import { type AssetKey, IdMapping } from './id_mapping.js';
import { decodeNames, encodeNamesQuery, nextIdAfter } from './names.js';

/** Returns the reason why this node's streaming IDs contradict those of the leader; `undefined` when they do not. */
export type IdsRefusal = (leader: IdMapping) => string | undefined;

/** The refusal until the leader's streaming IDs are known. */
export const IDS_UNKNOWN = 'the meaning of the streaming IDs on the leader is not known yet';

/**
 * The meaning of the streaming IDs in a leader's ticks. Each tick has a hash of the leader's taxonomy. If this taxonomy differs from this
 * node's own, the node requests the leader's taxonomy page by page.
 */
export class LeaderNames {
  readonly #own: () => IdMapping;
  readonly #refuse: IdsRefusal;
  #refusal: string | undefined = IDS_UNKNOWN;
  #known: IdMapping;
  /** The hash of the taxonomy that is being requested. */
  #wanted: bigint | undefined;
  #pages: MappedAsset[] = [];
  #nextId = 0;

  /** @param own returns the mapping of this node's current configuration */
  constructor(own: () => IdMapping, refuse: IdsRefusal = () => undefined) {
    this.#own = own;
    this.#refuse = refuse;
    this.#known = own();
  }

  /** Makes this hash the current hash. Returns true if {@link keyOf} is correct for ticks with this hash. */
  areKnown(hash: bigint): boolean {
    const own = this.#own();
    if (own.hash === hash) {
      this.#known = own;
      this.#refusal = undefined;
    } else if (this.#known.hash !== hash) {
      this.#wantNames(hash);
      return false;
    } else if (this.#refusal === IDS_UNKNOWN) this.#refusal = this.#refuse(this.#known);
    this.#wanted = undefined;
    return true;
  }

  /** The reason why this node must not say what streaming IDs mean; `undefined` when they mean the same on the leader. */
  get refusal(): string | undefined {
    return this.#refusal;
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
    const taxonomy = new IdMapping(this.#pages, page.taxonomyId);
    this.#restart();
    // The leader may have reloaded its configuration between two pages.
    if (taxonomy.hash !== wanted) return false;
    this.#known = taxonomy;
    this.#refusal = this.#refuse(taxonomy);
    this.#wanted = undefined;
    return true;
  }

  #wantNames(hash: bigint): void {
    if (this.#wanted === hash) return;
    this.#wanted = hash;
    this.#restart();
  }

  #restart(): void {
    this.#pages = [];
    this.#nextId = 0;
  }
}
