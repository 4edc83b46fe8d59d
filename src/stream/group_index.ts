import type { StreamEra } from '../clock/stream_times.js';
import type { AssetIndex } from '../model/asset.js';
import { type AssetSet, isSameSet } from './asset_set.js';
import type { StreamSession } from './group.js';
import { Group } from './group.js';
import { addTo, deleteFrom } from './keyed_sets.js';
import { optionsKey, type StreamQuery } from './stream_options.js';

/** The suffix of a key; repeated once for each earlier group with the same key. */
const SAME_HASH = '+';
const NO_GROUPS: ReadonlySet<Group> = new Set();

/** The groups that have connections, by the options that the members share, by interval and by asset. */
export class GroupIndex {
  readonly #byKey = new Map<string, Group>();
  readonly #byInterval = new Map<number, Set<Group>>();
  /** `real_time` groups by asset index. */
  readonly #realTimeByAsset: Set<Group>[] = [];
  readonly #newTopic: () => number;

  /** @param newTopic `FanOut.newTopic` */
  constructor(newTopic: () => number) {
    this.#newTopic = newTopic;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** The intervals of fixed channels that have connections, in ms, with their groups. */
  get fixed(): ReadonlyMap<number, ReadonlySet<Group>> {
    return this.#byInterval;
  }

  /** Returns all current connections with a subscription. */
  sessions(): StreamSession[] {
    return [...this.#byKey.values()].flatMap(({ members, waiting }) => [...members, ...waiting]);
  }

  realTimeOf(index: AssetIndex): ReadonlySet<Group> {
    return this.#realTimeByAsset[index] ?? NO_GROUPS;
  }

  /**
   * Returns the group for an era, options and assets.
   * @param sequence the sequence of the group if it is new and on `real_time`
   */
  findOrAdd(options: StreamQuery, era: StreamEra, set: AssetSet, sequence: number): Group {
    let key = `${optionsKey(options)} ${era.serial} ${set.hash}`;
    for (;;) {
      const known = this.#byKey.get(key);
      if (known === undefined) break;
      if (isSameSet(known.set, set)) return known;
      // The group with this key has another set with the same hash.
      key += SAME_HASH;
    }
    const group = new Group(key, this.#newTopic(), sequence, options, era, set);
    this.#byKey.set(key, group);
    if (group.intervalMs !== undefined) addTo(this.#byInterval, group.intervalMs, group);
    else this.#addRealTime(group);
    return group;
  }

  remove(group: Group): void {
    this.#byKey.delete(group.key);
    if (group.intervalMs !== undefined) deleteFrom(this.#byInterval, group.intervalMs, group);
    else this.#removeRealTime(group);
  }

  #addRealTime(group: Group): void {
    for (const index of group.assets) {
      const groups = this.#realTimeByAsset[index];
      if (groups) groups.add(group);
      else this.#realTimeByAsset[index] = new Set([group]);
    }
  }

  #removeRealTime(group: Group): void {
    for (const index of group.assets) this.#realTimeByAsset[index]!.delete(group);
  }
}
