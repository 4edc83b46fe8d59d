import type { TimeNs } from './time.js';

/**
 * What must outlive a restart so that no accepted update of a publisher for an asset is accepted again: the hashes of a
 * window of time, and where the window begins.
 */
export interface SeenUpdates {
  /** Updates with an earlier time are refused: what was accepted before it is no longer remembered. */
  readonly floorNs: TimeNs;
  /** The accepted updates by the second that their signatures cover, from the floor's second on. */
  readonly seconds: readonly SeenSecond[];
}

export interface SeenSecond {
  /** UNIX time in whole seconds. */
  readonly second: number;
  /** By the last 53 bits of their `msg_hash`: an integer that a double holds exactly. */
  readonly updates: ReadonlyMap<number, SeenUpdate>;
}

export interface SeenUpdate {
  /** The newest time that it was accepted with, in nanoseconds after the second. */
  readonly nanos: number;
  /** Who sent it first. */
  readonly sender: string;
}
