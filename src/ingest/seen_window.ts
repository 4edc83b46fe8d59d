import {
  SEEN_FIELDS,
  SEEN_HASH_KEY,
  SEEN_NANOS,
  SEEN_SECOND,
  SEEN_SENDER,
  type SeenUpdates,
} from '../model/seen_updates.js';
import { NS_PER_SECOND, secondOf, type TimeNs } from '../model/time.js';

/** The fields of an update by which a window recognises the update. */
export interface SeenUpdate {
  /** The identity of the session that sent the update. */
  readonly sender: string;
  /**
   * The whole second of the timestamp, which the signature covers. The next field has the remaining nanoseconds, which the
   * signature does not cover.
   */
  readonly second: number;
  readonly nanos: number;
  /** The remembered part of the `msg_hash`. */
  readonly hashKey: number;
}

/** The number of updates that fit in the memory that each window has. Most publishers of many assets send fewer updates a second. */
const ROOM_UPDATES = 4;
const ROOM_NUMBERS = ROOM_UPDATES * SEEN_FIELDS;
const WINDOWS_PER_BLOCK = 256;
/**
 * The number of updates up to which the class searches a window from its start. Up to this number, a search is faster than a map. Most
 * publishers send 2 to 20 updates a second.
 */
const SEARCHED_UPDATES_MAX = 100;

/** Allocates windows in blocks of memory. */
export class SeenTable {
  #block = new Float64Array(0);
  #used = 0;

  /** Returns an empty window, which accepts every time. */
  add(): SeenWindow {
    if (this.#used === this.#block.length) {
      this.#block = new Float64Array(ROOM_NUMBERS * WINDOWS_PER_BLOCK);
      this.#used = 0;
    }
    const from = this.#used;
    this.#used += ROOM_NUMBERS;
    return new SeenWindow(this.#block, from);
  }
}

/**
 * The accepted updates of one publisher for one asset that the service remembers. The window writes its updates where the forgotten
 * updates were, so that an accepted update leaves no object behind.
 */
export class SeenWindow implements SeenUpdates {
  floorNs = 0n as TimeNs;
  senders: string[] = [];
  count = 0;
  /** The block, or memory of the window's own while it has more updates than its room in the block. */
  updates: Float64Array;
  start: number;
  readonly #block: Float64Array;
  /** The index in the block at which the window's room begins. */
  readonly #room: number;
  /** The index of each hash key in `updates`; `undefined` while the window has few updates. */
  #placeByKey: Map<number, number> | undefined;
  /** The hash key and the second of the last accepted update since the start, in the order of arrival. */
  #lastHashKey = 0;
  #lastSecond: number | undefined;

  constructor(block: Float64Array, room: number) {
    this.#block = block;
    this.#room = room;
    this.updates = block;
    this.start = room;
  }

  /**
   * Restores the window after a restart.
   * @param lastNs the time of the last accepted update
   * @param seen absent in records of versions without a window; the window then begins after the second of the last update
   */
  restore(lastNs: TimeNs, seen: SeenUpdates | undefined): void {
    this.clear(seen?.floorNs ?? (((secondOf(lastNs) + 1n) * NS_PER_SECOND) as TimeNs));
    if (seen === undefined) return;
    this.senders = [...seen.senders];
    this.count = seen.count;
    const length = seen.count * SEEN_FIELDS;
    if (length > ROOM_NUMBERS) this.#moveTo(new Float64Array(length), 0, 0);
    for (let at = 0; at < length; at++) this.updates[this.start + at] = seen.updates[seen.start + at]!;
  }

  /** Forgets all updates, and begins at this time. */
  clear(floorNs: TimeNs): void {
    this.floorNs = floorNs;
    this.senders = [];
    this.count = 0;
    this.#moveTo(this.#block, this.#room, 0);
    this.#placeByKey = undefined;
    this.#lastSecond = undefined;
  }

  /** Returns the index in `updates` at which the update with this second and hash begins; -1 when the update is absent. */
  find({ second, hashKey }: SeenUpdate): number {
    const { updates, start } = this;
    if (this.count > SEARCHED_UPDATES_MAX) {
      this.#placeByKey ??= this.#placesByKey();
      const at = this.#placeByKey.get(hashKey) ?? -1;
      return at >= 0 && updates[at + SEEN_SECOND] === second ? at : -1;
    }
    for (let at = start; at < this.#end; at += SEEN_FIELDS)
      if (updates[at + SEEN_HASH_KEY] === hashKey && updates[at + SEEN_SECOND] === second) return at;
    return -1;
  }

  senderAt(at: number): string {
    return this.senders[this.updates[at + SEEN_SENDER]!]!;
  }

  nanosAt(at: number): number {
    return this.updates[at + SEEN_NANOS]!;
  }

  /** Returns the number of updates from this second on. */
  countFrom(second: number): number {
    let left = 0;
    for (let at = this.start; at < this.#end; at += SEEN_FIELDS)
      if (this.updates[at + SEEN_SECOND]! >= second) left++;
    return left;
  }

  /** Returns whether the last accepted update since the start has this second and hash. */
  isLast({ hashKey, second }: SeenUpdate): boolean {
    return this.#lastSecond === second && this.#lastHashKey === hashKey;
  }

  /**
   * Returns whether the update at index `at` was accepted last. After a restart, the newest update that was not a refresh counts as
   * accepted last.
   */
  isNewest(update: SeenUpdate, at: number): boolean {
    return this.#lastSecond === undefined ? at + SEEN_FIELDS === this.#end : this.isLast(update);
  }

  /** Notes which update was accepted last. */
  noteLast({ hashKey, second }: SeenUpdate): void {
    this.#lastHashKey = hashKey;
    this.#lastSecond = second;
  }

  /** Notes the newer time of a refresh of the update at index `at`. */
  refresh(at: number, { nanos }: SeenUpdate): void {
    this.updates[at + SEEN_NANOS] = nanos;
  }

  /** Adds an update that the window does not have. */
  add({ hashKey, second, nanos, sender }: SeenUpdate): void {
    if (this.count * SEEN_FIELDS === this.#capacity)
      this.#moveTo(new Float64Array(2 * this.#capacity), 0, this.count);
    const { updates } = this;
    const at = this.#end;
    updates[at + SEEN_HASH_KEY] = hashKey;
    updates[at + SEEN_SECOND] = second;
    updates[at + SEEN_NANOS] = nanos;
    updates[at + SEEN_SENDER] = this.#placeOf(sender);
    this.#placeByKey?.set(hashKey, at);
    this.count++;
  }

  /** Moves the start of the window. Forgets the updates of the seconds before the start, and the senders that no update needs. */
  raiseFloor(floorNs: TimeNs): void {
    if (floorNs <= this.floorNs) return;
    const first = secondOf(floorNs);
    const isNextSecond = first > secondOf(this.floorNs);
    this.floorNs = floorNs;
    if (isNextSecond) this.#forgetBefore(Number(first));
  }

  #forgetBefore(first: number): void {
    const { updates, start } = this;
    this.#placeByKey = undefined;
    let kept = 0;
    for (let at = start; at < this.#end; at += SEEN_FIELDS) {
      if (updates[at + SEEN_SECOND]! < first) continue;
      updates.copyWithin(start + kept * SEEN_FIELDS, at, at + SEEN_FIELDS);
      kept++;
    }
    this.count = kept;
    this.#giveBack();
    if (this.senders.length > 1) this.#forgetUnusedSenders();
  }

  /** Gives own memory back that is much larger than what the window has. */
  #giveBack(): void {
    const { updates, count } = this;
    if (updates === this.#block || 4 * count * SEEN_FIELDS > updates.length) return;
    if (2 * count <= ROOM_UPDATES) this.#moveTo(this.#block, this.#room, count);
    else this.#moveTo(new Float64Array(2 * count * SEEN_FIELDS), 0, count);
  }

  #forgetUnusedSenders(): void {
    const { senders, updates } = this;
    this.senders = [];
    for (let at = this.start + SEEN_SENDER; at < this.#end; at += SEEN_FIELDS)
      updates[at] = this.#placeOf(senders[updates[at]!]!);
  }

  /** Returns the index of a sender in the list. A new sender is added at the end. */
  #placeOf(sender: string): number {
    const place = this.senders.indexOf(sender);
    if (place >= 0) return place;
    // A list that grows has memory for 17 texts, and most windows have one sender.
    if (this.senders.length > 0) return this.senders.push(sender) - 1;
    this.senders = [sender];
    return 0;
  }

  /** The index in `updates` after the last update. */
  get #end(): number {
    return this.start + this.count * SEEN_FIELDS;
  }

  get #capacity(): number {
    return this.updates === this.#block ? ROOM_NUMBERS : this.updates.length;
  }

  /** Moves the first `count` updates to other memory. */
  #moveTo(updates: Float64Array, start: number, count: number): void {
    for (let i = 0; i < count * SEEN_FIELDS; i++) updates[start + i] = this.updates[this.start + i]!;
    this.updates = updates;
    this.start = start;
  }

  #placesByKey(): Map<number, number> {
    const places = new Map<number, number>();
    for (let at = this.start; at < this.#end; at += SEEN_FIELDS)
      places.set(this.updates[at + SEEN_HASH_KEY]!, at);
    return places;
  }
}
