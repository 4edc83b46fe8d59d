import type { TimeNs } from './time.js';

/**
 * The state that must outlive a restart so that no accepted update of a publisher for an asset is accepted again: the hashes of a
 * window of time, and the begin of the window.
 */
export interface SeenUpdates {
  /** The floor: updates with an earlier time are refused, because those accepted before it are no longer remembered. */
  readonly floorNs: TimeNs;
  /** The senders that sent the updates first; each once. */
  readonly senders: readonly string[];
  /**
   * The accepted updates from the floor's second on, {@link SEEN_FIELDS} numbers each: an update takes 32 bytes, because there
   * may be a window for each of 50,000 pairs of asset and publisher.
   */
  readonly updates: readonly number[];
}

/** The last 53 bits of the update's `msg_hash`: an integer that a double holds exactly. */
export const SEEN_HASH_KEY = 0;
/** The UNIX time, in whole seconds, that the update's signature covers. */
export const SEEN_SECOND = 1;
/** The newest time with which the update was accepted, in nanoseconds after the second. */
export const SEEN_NANOS = 2;
/** The first sender of the update: an index of `senders`. */
export const SEEN_SENDER = 3;
export const SEEN_FIELDS = 4;
