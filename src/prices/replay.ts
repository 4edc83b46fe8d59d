import type { SeenWindow } from '../log/records/seen_window.js';
import type { RememberedUpdate } from '../model/seen_updates.js';
import { secondOf, type TimeNs } from '../model/time.js';

/**
 * The number of different updates of one publisher for one asset in the memory. Above this number, the service refuses new
 * updates until the window has moved forward. So the number limits the memory, and the size of the stored record.
 */
export const SEEN_UPDATES_MAX = 30_000;

/** An update whose time the rules check. */
export interface SignedUpdate extends RememberedUpdate {
  readonly timestampNs: TimeNs;
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
 * The rules that stop replays. Each pair of publisher and asset has a window with the hashes of its recently accepted updates.
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
 * update whose time is after the start, or after the last step back of the clock. The first such update clears the window.
 */
export class ReplayRules {
  readonly #maxBackwardNs: bigint;
  /** The time of the start, or of the last step back of the clock. */
  #beginsNs: TimeNs;

  /** @param maxBackwardNs with 0, a window accepts an update only if it is newer than all earlier updates */
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
  check(window: SeenWindow, update: SignedUpdate, latestNs: bigint): string | undefined {
    const { timestampNs, nanos, sender } = update;
    if (isAhead(window, latestNs)) return timestampNs < this.#beginsNs ? NOT_NEWER : undefined;
    if (timestampNs < window.floorNs) return this.#maxBackwardNs === 0n ? NOT_NEWER : TOO_FAR_BACK;
    const found = window.find(update);
    if (found === undefined) return this.#hasRoom(window, timestampNs) ? undefined : WINDOW_FULL;
    if (found.sender !== sender) return OTHER_SENDER;
    if (nanos <= found.nanos) return SEEN_BEFORE;
    return this.#maxBackwardNs > 0n || window.isNewest(found) ? undefined : SUPERSEDED;
  }

  /**
   * Remembers an accepted update.
   * @param latestNs the latest acceptable time
   */
  record(window: SeenWindow, update: SignedUpdate, latestNs: bigint): void {
    if (isAhead(window, latestNs)) window.clear(this.#beginsNs);
    const found = window.find(update);
    if (found !== undefined) {
      window.refresh(found, update.nanos);
      return;
    }
    window.raiseFloor(this.#floorAfter(update.timestampNs));
    window.add(update);
  }

  /**
   * Returns whether the memory has room for one more update with this time. The count excludes the updates that the window
   * forgets because of the new update.
   */
  #hasRoom(window: SeenWindow, timestampNs: TimeNs): boolean {
    if (window.updates.length < SEEN_UPDATES_MAX) return true;
    return window.countFrom(Number(secondOf(this.#floorAfter(timestampNs)))) < SEEN_UPDATES_MAX;
  }

  #floorAfter(timestampNs: TimeNs): TimeNs {
    return (this.#maxBackwardNs === 0n ? timestampNs + 1n : timestampNs - this.#maxBackwardNs) as TimeNs;
  }
}

/**
 * Returns whether the window has accepted an update with this hash and sender, and then a later update. A refresh of the same
 * update counts as a later update, because the window remembers only the newest timestamp of each update.
 */
export function isOver(window: SeenWindow, update: SignedUpdate): boolean {
  const found = window.find(update);
  if (found === undefined || found.sender !== update.sender) return false;
  return update.nanos < found.nanos || (update.nanos === found.nanos && !window.isNewest(found));
}

/**
 * Returns whether the window begins after every acceptable time. With a `max_backward` of 0, the window begins 1 ns after its last
 * update.
 */
function isAhead({ floorNs }: SeenWindow, latestNs: bigint): boolean {
  return floorNs > latestNs + 1n;
}

const NOT_NEWER = 'timestamp is not newer than the last accepted one';
const TOO_FAR_BACK = 'timestamp is further behind the newest accepted one than ingest.max_backward';
const SEEN_BEFORE = 'replay: timestamp is not newer than the one that this update was accepted with';
const SUPERSEDED = 'replay: another update came after this one in the same second';
const OTHER_SENDER = 'replay: another token or key sent this update first, and only that one can refresh it';
const WINDOW_FULL = `more than ${SEEN_UPDATES_MAX} updates within ingest.max_backward`;
