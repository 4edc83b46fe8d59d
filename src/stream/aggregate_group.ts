import { Roster } from '../fair/roster.js';
import type { Asset, AssetIndex, SignatureType } from '../model/asset.js';
import { addTo, deleteFrom } from './keyed_sets.js';
import {
  type ReaderBudgets,
  ReaderSession,
  type StreamConnection,
  type StreamRights,
} from './reader_session.js';

const NO_ASSETS: readonly Asset[] = [];

/** One connection of `/evm/subscribe` or `/stark/subscribe`. */
export class AggregateSession extends ReaderSession {
  group: AggregateGroup | undefined;
  /** Its place among the group's members. */
  memberPlace = 0;
  /** What was signed up to this sequence has been sent. */
  sequence = 0;
  /** Newly subscribed assets, due whether they were signed since or not. */
  fresh: Set<AssetIndex> | undefined;

  constructor(
    connection: StreamConnection,
    rights: StreamRights,
    budgets: ReaderBudgets,
    readonly signatureType: SignatureType,
  ) {
    super(connection, rights, budgets);
  }

  /** Ascending by index. */
  get assets(): readonly Asset[] {
    return this.group?.assets ?? NO_ASSETS;
  }
}

/** The connections with the same assets. They share each frame's bytes and the topic it is published on. */
export class AggregateGroup {
  /** In the topic: the next frame reaches them. */
  readonly members = new Roster<'memberPlace', AggregateSession>('memberPlace');
  /** Not yet, or not now, in the topic: newcomers, and slow readers. */
  readonly waiting = new Set<AggregateSession>();
  /** Stands in the list of groups that have something to send. */
  dirty = false;

  constructor(
    readonly key: string,
    readonly topic: number,
    /** Ascending by index. */
    readonly assets: readonly Asset[],
    /** What was signed up to this sequence has been sent to the members. */
    public sequence: number,
  ) {}

  get isEmpty(): boolean {
    return this.members.size + this.waiting.size === 0;
  }
}

const NO_GROUPS: ReadonlySet<AggregateGroup> = new Set();

/** The groups that have connections, found by what they share and by asset. */
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

  /** All connections that are subscribed to anything, as they are now. */
  sessions(): AggregateSession[] {
    return [...this.#byKey.values()].flatMap(({ members, waiting }) => [...members.members, ...waiting]);
  }

  withAsset(index: AssetIndex): ReadonlySet<AggregateGroup> {
    return this.#byAsset.get(index) ?? NO_GROUPS;
  }

  /**
   * @param assets ascending by index; an asset has one signature type, so no two types share a group
   * @param sequence what a new group has seen
   */
  findOrAdd(assets: readonly Asset[], sequence: number): AggregateGroup {
    const key = assets.map(({ index }) => index).join();
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const group = new AggregateGroup(key, this.#newTopic(), assets, sequence);
    this.#byKey.set(key, group);
    for (const { index } of assets) addTo(this.#byAsset, index, group);
    return group;
  }

  remove(group: AggregateGroup): void {
    this.#byKey.delete(group.key);
    for (const { index } of group.assets) deleteFrom(this.#byAsset, index, group);
  }
}
