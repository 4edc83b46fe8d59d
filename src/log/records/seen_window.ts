import type { RememberedUpdate, SeenChanges, SeenUpdates } from '../../model/seen_updates.js';
import { secondOf, type TimeNs } from '../../model/time.js';

/**
 * The number of updates up to which the window is searched from its start. Up to this number, a search is faster than a map. Most
 * publishers send 2 to 20 updates a second.
 */
const SEARCHED_UPDATES_MAX = 100;

/** The part of an update by which a window recognises the update. */
type Recognised = Pick<RememberedUpdate, 'hashKey' | 'second'>;

/** The accepted updates of one publisher for one asset that the service remembers. */
export class SeenWindow implements SeenUpdates {
  floorNs = 0n as TimeNs;
  updates: RememberedUpdate[] = [];
  /** The updates by hash key; `undefined` while the window has few updates. */
  #byKey: Map<number, RememberedUpdate> | undefined;
  /** The updates that changed since {@link takeChanges}; `undefined` if the whole window counts as changed. */
  #changed: RememberedUpdate[] | undefined;
  /** The hash key and the second of the last accepted update since the start, in the order of arrival. */
  #last: Recognised | undefined;

  /** Restores the window after a restart. */
  restore({ floorNs, updates }: SeenUpdates): void {
    this.clear(floorNs);
    this.updates = updates.map((update) => ({ ...update }));
    this.#changed = [];
  }

  takeChanges(): SeenChanges {
    const changed = this.#changed;
    this.#changed = [];
    return changed === undefined
      ? { isWhole: true, updates: this.updates }
      : { isWhole: false, updates: changed };
  }

  /** Forgets all updates, and begins at this time. */
  clear(floorNs: TimeNs): void {
    this.floorNs = floorNs;
    this.updates = [];
    this.#byKey = undefined;
    this.#changed = undefined;
    this.#last = undefined;
  }

  /** Returns the remembered update with this second and hash. */
  find({ second, hashKey }: Recognised): RememberedUpdate | undefined {
    const { updates } = this;
    if (updates.length > SEARCHED_UPDATES_MAX) {
      this.#byKey ??= new Map(updates.map((update) => [update.hashKey, update]));
      const found = this.#byKey.get(hashKey);
      return found?.second === second ? found : undefined;
    }
    for (let i = 0; i < updates.length; i++) {
      const update = updates[i]!;
      if (update.hashKey === hashKey && update.second === second) return update;
    }
    return undefined;
  }

  /** Returns the number of updates from this second on. */
  countFrom(second: number): number {
    return this.updates.reduce((count, update) => (update.second >= second ? count + 1 : count), 0);
  }

  /** Returns whether the last accepted update since the start has this second and hash. */
  isLast({ hashKey, second }: Recognised): boolean {
    return this.#last !== undefined && this.#last.second === second && this.#last.hashKey === hashKey;
  }

  /**
   * Returns whether a remembered update was accepted last. After a restart, the newest update that was not a refresh counts as
   * accepted last.
   */
  isNewest(update: RememberedUpdate): boolean {
    return this.#last === undefined ? update === this.updates.at(-1) : this.isLast(update);
  }

  /** Notes that an update which the window has was accepted again, with a newer time. */
  refresh(found: RememberedUpdate, nanos: number): void {
    found.nanos = nanos;
    this.#last = found;
    this.#noteChange(found);
  }

  /** Adds an update that the window does not have. */
  add({ hashKey, second, nanos, sender }: RememberedUpdate): void {
    const update = { hashKey, second, nanos, sender };
    this.updates.push(update);
    this.#byKey?.set(hashKey, update);
    this.#last = update;
    this.#noteChange(update);
  }

  #noteChange(changed: RememberedUpdate): void {
    if (this.#changed?.at(-1) === changed) return;
    this.#changed?.push(changed);
    // Nobody takes the changes in a node whose cluster keeps the log.
    if (this.#changed !== undefined && this.#changed.length > this.updates.length) this.#changed = undefined;
  }

  /** Moves the start of the window. Forgets the updates of the seconds before the start. */
  raiseFloor(floorNs: TimeNs): void {
    if (floorNs <= this.floorNs) return;
    const first = secondOf(floorNs);
    const isNextSecond = first > secondOf(this.floorNs);
    this.floorNs = floorNs;
    if (!isNextSecond) return;
    const firstSecond = Number(first);
    this.updates = this.updates.filter(({ second }) => second >= firstSecond);
    this.#byKey = undefined;
  }
}
