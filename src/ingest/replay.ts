import type { Asset, ListedPublisher } from '../model/asset.js';
import {
  SEEN_FIELDS,
  SEEN_HASH_KEY,
  SEEN_NANOS,
  SEEN_SECOND,
  SEEN_SENDER,
  type SeenUpdates,
} from '../model/seen_updates.js';
import { NS_PER_SECOND, secondOf, type TimeNs } from '../model/time.js';
import { PairMap } from './pair_map.js';

/**
 * The number of different updates of one publisher for one asset in the memory. Above this number, the service refuses new
 * updates until the window has moved forward. So the number limits the memory, and the size of the stored record.
 */
export const SEEN_UPDATES_MAX = 30_000;

/** The remembered fields of an update and its sender. */
export interface SignedUpdate {
  readonly asset: Asset;
  readonly publisher: ListedPublisher;
  /** The identity of the session that sent the update. */
  readonly sender: string;
  readonly timestampNs: TimeNs;
  /**
   * The whole second of the timestamp, which the signature covers. The next field has the remaining nanoseconds, which the
   * signature does not cover.
   */
  readonly second: number;
  readonly nanos: number;
  /** The remembered part of the `msg_hash`; see {@link hashKeyOf}. */
  readonly hashKey: number;
}

/**
 * Returns 53 bits that identify a hash within a window. Among 30,000 hashes, the probability is 1 in 10^11 that a new hash has
 * the bits of another hash. The service refuses such an update, or treats it as a refresh. The result is a number, because a
 * look-up of a number needs no text.
 */
export function hashKeyOf(msgHash: Buffer): number {
  return (msgHash.readUInt32BE(24) & 0x1f_ffff) * 0x1_0000_0000 + msgHash.readUInt32BE(28);
}

/**
 * The hashes of recently accepted updates, by asset and publisher.
 *
 * Signatures cover whole seconds. So anyone can raise the nanoseconds of an update, and its signature stays valid. Therefore the
 * service accepts an update whose hash is in the window only as a refresh. A refresh needs a later time, and must come from the
 * sender that first sent the update. A refresh never moves the window.
 *
 * Any other update may be up to `max_backward` older than the newest update; refreshes do not count as newest. The window begins at
 * that time. The service refuses an older update, because the window no longer has its hash. With a `max_backward` of 0, only the
 * newest update can be refreshed, so an earlier value of its second never returns.
 *
 * A window that begins after the latest acceptable time is from a wrong clock, and is ignored. The service then accepts every
 * update whose time is after the start, or after the last step back of the clock. The first such update replaces the window.
 */
export class ReplayWindow {
  readonly #maxBackwardNs: bigint;
  readonly #pairs = new PairMap<Pair>();
  /** The start, or the last step back of the clock. */
  #beginsNs: TimeNs;

  /** @param maxBackwardNs with 0, the window accepts an update only if it is newer than all earlier updates */
  constructor(maxBackwardNs: bigint, nowNs: TimeNs) {
    this.#maxBackwardNs = maxBackwardNs;
    this.#beginsNs = nowNs;
  }

  /** Notes that the clock was stepped back to this time. */
  steppedBack(nowNs: TimeNs): void {
    this.#beginsNs = nowNs;
  }

  /**
   * @param latestNs the latest acceptable time
   * @returns the reason why the window refuses the update now; `undefined` for an accepted update
   */
  check(update: SignedUpdate, latestNs: bigint): string | undefined {
    const pair = this.#pairs.get(update.asset, update.publisher);
    if (pair === undefined) return undefined;
    const { timestampNs, nanos, sender } = update;
    if (isAhead(pair, latestNs)) return timestampNs < this.#beginsNs ? NOT_NEWER : undefined;
    if (timestampNs < pair.floorNs) return this.#maxBackwardNs === 0n ? NOT_NEWER : TOO_FAR_BACK;
    const at = find(pair, update);
    if (at < 0) return this.#hasRoom(pair, timestampNs) ? undefined : WINDOW_FULL;
    const { updates, senders } = pair;
    if (senders[updates[at + SEEN_SENDER]!] !== sender) return OTHER_SENDER;
    if (nanos <= updates[at + SEEN_NANOS]!) return SEEN_BEFORE;
    return this.#maxBackwardNs > 0n || isNewest(pair, update, at) ? undefined : SUPERSEDED;
  }

  /**
   * Returns whether the window has accepted an update with this hash and sender, and then a later update. A refresh of the same
   * update counts as a later update, because the window remembers only the newest timestamp of each update.
   */
  isOver(update: SignedUpdate): boolean {
    const pair = this.#pairs.get(update.asset, update.publisher);
    const at = pair === undefined ? -1 : find(pair, update);
    if (pair === undefined || at < 0) return false;
    const { updates, senders } = pair;
    if (senders[updates[at + SEEN_SENDER]!] !== update.sender) return false;
    const nanos = updates[at + SEEN_NANOS]!;
    return update.nanos < nanos || (update.nanos === nanos && !isNewest(pair, update, at));
  }

  /** Returns whether the last accepted update since the start has this second and hash. */
  isLast(update: SignedUpdate): boolean {
    const last = this.#pairs.get(update.asset, update.publisher)?.last;
    return last !== undefined && isSame(last, update);
  }

  /**
   * Remembers an accepted update.
   * @param latestNs the latest acceptable time
   */
  record(update: SignedUpdate, latestNs: bigint): void {
    const { timestampNs, second, nanos, hashKey, sender } = update;
    let pair = this.#pairs.get(update.asset, update.publisher);
    if (pair === undefined || isAhead(pair, latestNs)) {
      const floorNs = pair === undefined ? (0n as TimeNs) : this.#beginsNs;
      pair = { floorNs, senders: [], updates: [], placeByKey: undefined, last: undefined };
      this.#pairs.set(update.asset, update.publisher, pair);
    }
    if (pair.last === undefined) pair.last = { hashKey, second };
    else {
      pair.last.hashKey = hashKey;
      pair.last.second = second;
    }
    const at = find(pair, update);
    if (at >= 0) {
      pair.updates[at + SEEN_NANOS] = nanos;
      return;
    }
    this.#raiseFloor(pair, timestampNs);
    pair.placeByKey?.set(hashKey, pair.updates.length);
    pair.updates.push(hashKey, second, nanos, placeOf(sender, pair.senders));
  }

  /**
   * Returns the memory of a publisher's updates for an asset. The window must have accepted at least one update. The next
   * accepted update changes the returned object.
   */
  seen(asset: Asset, publisher: ListedPublisher): SeenUpdates {
    return this.#pairs.get(asset, publisher)!;
  }

  /**
   * Restores the memory after a restart.
   * @param seen absent in records of versions without a window; the window then accepts no update up to the end of the last
   * update's second
   */
  restore(asset: Asset, publisher: ListedPublisher, lastNs: TimeNs, seen: SeenUpdates | undefined): void {
    this.#pairs.set(asset, publisher, {
      floorNs: seen?.floorNs ?? (((secondOf(lastNs) + 1n) * NS_PER_SECOND) as TimeNs),
      senders: [...(seen?.senders ?? [])],
      updates: [...(seen?.updates ?? [])],
      placeByKey: undefined,
      last: undefined,
    });
  }

  /**
   * Returns whether the memory has room for one more update with this time. The count excludes the updates that the window
   * forgets because of the new update.
   */
  #hasRoom({ updates }: Pair, timestampNs: TimeNs): boolean {
    if (updates.length < NUMBERS_MAX) return true;
    const first = Number(secondOf(this.#floorAfter(timestampNs)));
    let left = 0;
    for (let at = 0; at < updates.length; at += SEEN_FIELDS) if (updates[at + SEEN_SECOND]! >= first) left++;
    return left < SEEN_UPDATES_MAX;
  }

  /** Moves the start of the window for an accepted update with this time, and forgets the earlier seconds. */
  #raiseFloor(pair: Pair, timestampNs: TimeNs): void {
    const floorNs = this.#floorAfter(timestampNs);
    if (floorNs <= pair.floorNs) return;
    const isNextSecond = secondOf(floorNs) > secondOf(pair.floorNs);
    pair.floorNs = floorNs;
    if (isNextSecond) forgetBefore(pair, Number(secondOf(floorNs)));
  }

  #floorAfter(timestampNs: TimeNs): TimeNs {
    return (this.#maxBackwardNs === 0n ? timestampNs + 1n : timestampNs - this.#maxBackwardNs) as TimeNs;
  }
}

/**
 * Returns whether the window begins after every acceptable time. With a `max_backward` of 0, the window begins 1 ns after its last
 * update.
 */
function isAhead({ floorNs }: Pair, latestNs: bigint): boolean {
  return floorNs > latestNs + 1n;
}

/**
 * Returns whether the update at index `at` was accepted last. After a restart, the newest update that was not a refresh counts as
 * accepted last.
 */
function isNewest({ last, updates }: Pair, update: SignedUpdate, at: number): boolean {
  return last === undefined ? at + SEEN_FIELDS === updates.length : isSame(last, update);
}

function isSame(last: RememberedUpdate, { hashKey, second }: SignedUpdate): boolean {
  return last.hashKey === hashKey && last.second === second;
}

const NOT_NEWER = 'timestamp is not newer than the last accepted one';
const TOO_FAR_BACK = 'timestamp is further behind the newest accepted one than ingest.max_backward';
const SEEN_BEFORE = 'replay: timestamp is not newer than the one that this update was accepted with';
const SUPERSEDED = 'replay: another update came after this one in the same second';
const OTHER_SENDER = 'replay: another token or key sent this update first, and only that one can refresh it';
const WINDOW_FULL = `more than ${SEEN_UPDATES_MAX} updates within ingest.max_backward`;

const NUMBERS_MAX = SEEN_UPDATES_MAX * SEEN_FIELDS;
/**
 * The size up to which the class searches a list from its start. Up to this size, a search is faster than a map. Most publishers
 * send 2 to 20 updates a second.
 */
const SEARCHED_NUMBERS_MAX = 100 * SEEN_FIELDS;

/** The window of one publisher and one asset. */
interface Pair extends SeenUpdates {
  floorNs: TimeNs;
  senders: string[];
  updates: number[];
  /** The index of each hash key in `updates`; `undefined` while the list is short. */
  placeByKey: Map<number, number> | undefined;
  /** The last accepted update since the start, in the order of arrival. */
  last: RememberedUpdate | undefined;
}

interface RememberedUpdate {
  hashKey: number;
  second: number;
}

/** Returns the index in `updates` at which the update with this second and hash begins; -1 when the update is absent. */
function find(pair: Pair, { second, hashKey }: SignedUpdate): number {
  const { updates } = pair;
  if (updates.length > SEARCHED_NUMBERS_MAX) {
    pair.placeByKey ??= placesByKey(updates);
    const at = pair.placeByKey.get(hashKey) ?? -1;
    return updates[at + SEEN_SECOND] === second ? at : -1;
  }
  for (let at = 0; at < updates.length; at += SEEN_FIELDS)
    if (updates[at + SEEN_HASH_KEY] === hashKey && updates[at + SEEN_SECOND] === second) return at;
  return -1;
}

function placesByKey(updates: readonly number[]): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = 0; at < updates.length; at += SEEN_FIELDS) places.set(updates[at + SEEN_HASH_KEY]!, at);
  return places;
}

/** Removes the updates before second `first` from the list, and the senders that the list no longer needs. */
function forgetBefore(pair: Pair, first: number): void {
  const { updates, senders } = pair;
  pair.placeByKey = undefined;
  let kept = 0;
  for (let at = 0; at < updates.length; at += SEEN_FIELDS) {
    if (updates[at + SEEN_SECOND]! < first) continue;
    for (let field = 0; field < SEEN_FIELDS; field++) updates[kept + field] = updates[at + field]!;
    kept += SEEN_FIELDS;
  }
  updates.length = kept;
  if (kept === 0) senders.length = 0;
  else if (senders.length > 1) forgetUnusedSenders(pair);
}

function forgetUnusedSenders(pair: Pair): void {
  const { updates, senders } = pair;
  pair.senders = [];
  for (let at = SEEN_SENDER; at < updates.length; at += SEEN_FIELDS)
    updates[at] = placeOf(senders[updates[at]!]!, pair.senders);
}

/** Returns the index of a sender in the list. A new sender is added at the end. */
function placeOf(sender: string, senders: string[]): number {
  const place = senders.indexOf(sender);
  return place >= 0 ? place : senders.push(sender) - 1;
}
