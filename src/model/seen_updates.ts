import type { TimeNs } from './time.js';

/**
 * What must outlive a restart so that no accepted update of a publisher for an asset is accepted again: the hashes of a
 * window of time, and where the window begins.
 */
export interface SeenUpdates {
  /** Updates with an earlier time are refused: what was accepted before it is no longer remembered. */
  readonly floorNs: TimeNs;
  /** Who sent the updates first; each once. */
  readonly senders: readonly string[];
  /**
   * The accepted updates from the floor's second on, {@link SEEN_FIELDS} numbers each: there may be a window for each of
   * 50,000 pairs of asset and publisher, and so an update takes 32 bytes.
   */
  readonly updates: readonly number[];
}

/** The last 53 bits of the update's `msg_hash`: an integer that a double holds exactly. */
export const SEEN_HASH_KEY = 0;
/** The UNIX time, in whole seconds, that its signature covers. */
export const SEEN_SECOND = 1;
/** The newest time that it was accepted with, in nanoseconds after the second. */
export const SEEN_NANOS = 2;
/** Who sent it first: an index of `senders`. */
export const SEEN_SENDER = 3;
export const SEEN_FIELDS = 4;
