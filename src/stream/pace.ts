import { NS_PER_MS, nextMultiple } from '../model/time.js';
import { REAL_TIME_INTERVAL_MS } from '../wire/stream.js';
import type { Group } from './group.js';

/** The shortest interval between frames of `real_time`. */
const REAL_TIME_INTERVAL_NS = BigInt(REAL_TIME_INTERVAL_MS) * NS_PER_MS;

/** Returns the time at which changes that were too soon are tried again. */
export function nextTryNs(nowNs: bigint): bigint {
  return nextMultiple(nowNs, REAL_TIME_INTERVAL_NS);
}

/** The largest distance of a frame's time ahead of the clock; a later time is from before the clock was stepped back. */
const AHEAD_NS_MAX = 100n * NS_PER_MS;

/**
 * Returns the time at which a frame counts as sent: its `ts`, which may be a little ahead of the clock, so that `ts` too are 1 ms
 * apart.
 */
export function frameTime(timestampNs: bigint, nowNs: bigint): bigint {
  return isFromBefore(timestampNs, nowNs) ? nowNs : timestampNs;
}

/** Tells whether a connection that received a frame at that time must wait for the next. */
export function isTooSoon(nowNs: bigint, lastFrameNs: bigint): boolean {
  return nowNs - lastFrameNs < REAL_TIME_INTERVAL_NS && !isFromBefore(lastFrameNs, nowNs);
}

/** Returns the later one of two frames. A frame from before the clock was stepped back is the earlier. */
export function laterFrame(oneNs: bigint, otherNs: bigint, nowNs: bigint): bigint {
  if (isFromBefore(oneNs, nowNs)) return otherNs;
  return isFromBefore(otherNs, nowNs) || oneNs > otherNs ? oneNs : otherNs;
}

function isFromBefore(timeNs: bigint, nowNs: bigint): boolean {
  return timeNs - nowNs > AHEAD_NS_MAX;
}

/**
 * The largest number of connections whose frames are sent soon: a write to a socket takes 10 to 20 µs, so these frames delay
 * other messages for less than a millisecond.
 */
const FEW_CONNECTIONS = 32;

/** Tells whether there are groups and the frames for all of them are sent soon: to few connections, and without a signature. */
export function areSentSoon(groups: readonly Group[]): boolean {
  let connections = 0;
  for (const { members, waiting, payers } of groups) {
    connections += members.size + waiting.size;
    if (connections > FEW_CONNECTIONS || payers !== undefined) return false;
  }
  return connections > 0;
}
