import { NS_PER_MS, nextMultiple } from '../model/time.js';
import { REAL_TIME_INTERVAL_MS } from '../wire/stream.js';
import type { Group } from './group.js';

/** The shortest interval between frames of `real_time`. */
const REAL_TIME_INTERVAL_NS = BigInt(REAL_TIME_INTERVAL_MS) * NS_PER_MS;

/** Returns the time of the next attempt to send changes that came too soon after a frame. */
export function nextTryNs(nowNs: bigint): bigint {
  return nextMultiple(nowNs, REAL_TIME_INTERVAL_NS);
}

/** The largest time by which a frame may be ahead of the clock. A frame further ahead was sent before a step back of the clock. */
const AHEAD_NS_MAX = 100n * NS_PER_MS;

/**
 * Returns the time at which a frame counts as sent: its `ts`, which may be slightly ahead of the clock. So the `ts` of frames are also 1 ms
 * apart.
 */
export function frameTime(timestampNs: bigint, nowNs: bigint): bigint {
  return isFromBefore(timestampNs, nowNs) ? nowNs : timestampNs;
}

/** Returns whether a connection that received a frame at `lastFrameNs` must still wait for the next frame. */
export function isTooSoon(nowNs: bigint, lastFrameNs: bigint): boolean {
  return nowNs - lastFrameNs < REAL_TIME_INTERVAL_NS && !isFromBefore(lastFrameNs, nowNs);
}

/** Returns the later of the times of two frames. A frame from before a step back of the clock counts as earlier. */
export function laterFrame(oneNs: bigint, otherNs: bigint, nowNs: bigint): bigint {
  if (isFromBefore(oneNs, nowNs)) return otherNs;
  return isFromBefore(otherNs, nowNs) || oneNs > otherNs ? oneNs : otherNs;
}

function isFromBefore(timeNs: bigint, nowNs: bigint): boolean {
  return timeNs - nowNs > AHEAD_NS_MAX;
}

/**
 * The largest number of connections to which the engine sends a frame at once, before the end of the turn. A write to a socket takes 10
 * to 20 µs, so these frames delay other messages by less than a millisecond.
 */
const FEW_CONNECTIONS = 32;

/**
 * Returns whether the frames for all groups may be sent before the end of the turn. This is true if a group exists, few connections receive
 * the frames, and at most one frame needs a signature, which takes 45 µs.
 */
export function areSentSoon(groups: readonly Group[]): boolean {
  let connections = 0;
  let signatures = 0;
  for (const { members, waiting, payers } of groups) {
    connections += members.size + waiting.size;
    if (payers !== undefined) signatures += 1 + waiting.size;
    if (connections > FEW_CONNECTIONS || signatures > 1) return false;
  }
  return connections > 0;
}
