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
  /** The accepted updates from the second of `floorNs` on, in the order of arrival. */
  readonly updates: readonly Readonly<RememberedUpdate>[];
  /** Takes the changes since the last call. Absent if the window does not note its changes. */
  takeChanges?(): SeenChanges;
}

/** The changes of a window. */
export interface SeenChanges {
  /** True if the updates are the whole window. Otherwise they were added, or accepted again. */
  readonly isWhole: boolean;
  readonly updates: readonly Readonly<RememberedUpdate>[];
}

/** An accepted update. */
export interface RememberedUpdate {
  /** The last 53 bits of the update's `msg_hash`: an integer that a double holds exactly. */
  readonly hashKey: number;
  /** The UNIX time in whole seconds that the update's signature covers. */
  readonly second: number;
  /** The newest time with which the update was accepted, in nanoseconds after the second. The signature does not cover this field. */
  nanos: number;
  /** The identity of the session that first sent the update. */
  readonly sender: string;
}
