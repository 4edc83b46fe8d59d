import type { Asset, AssetIndex, SignatureType } from '../model/asset.js';
import { addTo, deleteFrom } from './keyed_sets.js';
import { ReaderGroup } from './reader_group.js';
import { ReaderSession, type ReaderTerms, type StreamConnection } from './reader_session.js';

const NO_ASSETS: readonly Asset[] = [];
const NO_SYMBOLS: readonly string[] = [];

/** The terms of the connections of a caller to the same endpoint. */
export interface AggregateTerms extends ReaderTerms<AggregateSession> {
  readonly signatureType: SignatureType;
}

/** A connection of `/evm/subscribe` or `/stark/subscribe`. */
export class AggregateSession extends ReaderSession<AggregateGroup> {
  /** The requested symbols that name no asset, in the order of the requests. */
  awaited: readonly string[] = NO_SYMBOLS;

  constructor(
    connection: StreamConnection,
    readonly terms: AggregateTerms,
  ) {
    super(connection);
  }

  get signatureType(): SignatureType {
    return this.terms.signatureType;
  }

  /** The assets, ascending by index. */
  get assets(): readonly Asset[] {
    return this.group?.assets ?? NO_ASSETS;
  }
}

/** The connections with the same assets. They share the bytes of each frame and the group's topic. */
export class AggregateGroup extends ReaderGroup<AggregateSession> {
  constructor(
    key: string,
    topic: number,
    sequence: number,
    /** The assets, ascending by index. */
    readonly assets: readonly Asset[],
  ) {
    super(key, topic, sequence);
  }
}

const NO_GROUPS: ReadonlySet<AggregateGroup> = new Set();

/** The groups that have connections, by their assets. */
export class AggregateGroupIndex {
  readonly #byKey = new Map<string, AggregateGroup>();
  readonly #byAsset = new Map<AssetIndex, Set<AggregateGroup>>();
  readonly #newTopic: () => number;

  /** @param newTopic `FanOut.newTopic` */
  constructor(newTopic: () => number) {
    this.#newTopic = newTopic;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Returns all current connections with a subscription. */
  sessions(): AggregateSession[] {
    return [...this.#byKey.values()].flatMap(({ members, waiting }) => [...members, ...waiting]);
  }

  withAsset(index: AssetIndex): ReadonlySet<AggregateGroup> {
    return this.#byAsset.get(index) ?? NO_GROUPS;
  }

  /**
   * Finds a group, or adds it.
   * @param assets ascending by index; an asset has only one signature type, so a group has one type
   * @param sequence the sequence of a new group
   */
  findOrAdd(assets: readonly Asset[], sequence: number): AggregateGroup {
    const key = assets.map(({ index }) => index).join();
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const group = new AggregateGroup(key, this.#newTopic(), sequence, assets);
    this.#byKey.set(key, group);
    for (const { index } of assets) addTo(this.#byAsset, index, group);
    return group;
  }

  remove(group: AggregateGroup): void {
    this.#byKey.delete(group.key);
    for (const { index } of group.assets) deleteFrom(this.#byAsset, index, group);
  }
}
