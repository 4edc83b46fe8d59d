import type { TimeNs } from './time.js';

/**
 * The state with which the service recognises, after a restart, the updates of a publisher and an asset that it accepted before:
 * the hashes of a time window, and the start of the window.
 */
export interface SeenUpdates {
  /**
   * The start of the window. The service refuses updates with an earlier time, because it has forgotten the updates before the
   * start.
   */
  readonly floorNs: TimeNs;
  /** The senders that first sent the updates. The list contains each sender once. */
  readonly senders: readonly string[];
  /** The number of accepted updates from the second of `floorNs` on. */
  readonly count: number;
  /** The index in `updates` at which the first update begins. */
  readonly start: number;
  /**
   * The updates, with {@link SEEN_FIELDS} numbers each, among other numbers. An update takes only 32 bytes, because each of
   * 50,000 pairs of asset and publisher may have a window.
   */
  readonly updates: ArrayLike<number>;
}

/** The last 53 bits of the update's `msg_hash`: an integer that a double holds exactly. */
export const SEEN_HASH_KEY = 0;
/** The UNIX time in whole seconds that the update's signature covers. */
export const SEEN_SECOND = 1;
/** The newest time with which the update was accepted, in nanoseconds after the second. */
export const SEEN_NANOS = 2;
/** The first sender of the update, as an index of `senders`. */
export const SEEN_SENDER = 3;
export const SEEN_FIELDS = 4;
