import { NS_PER_MS, nextMultiple } from '../model/time.js';
import { REAL_TIME_INTERVAL_MS } from '../wire/stream.js';
import type { Group } from './group.js';

/** `real_time` sends no faster than this. */
const REAL_TIME_INTERVAL_NS = BigInt(REAL_TIME_INTERVAL_MS) * NS_PER_MS;

/** When changes that were too soon are tried again. */
export function nextTryNs(nowNs: bigint): bigint {
  return nextMultiple(nowNs, REAL_TIME_INTERVAL_NS);
}

/** Further ahead of the clock than this, a time is from before the clock was stepped back. */
const AHEAD_NS_MAX = 100n * NS_PER_MS;

/** When a frame counts as sent: at its `ts`, which may be a little ahead of the clock, so that `ts` too are 1 ms apart. */
export function frameTime(timestampNs: bigint, nowNs: bigint): bigint {
  return isFromBefore(timestampNs, nowNs) ? nowNs : timestampNs;
}

/** Whether a connection that got a frame then must wait for the next. */
export function isTooSoon(nowNs: bigint, lastFrameNs: bigint): boolean {
  return nowNs - lastFrameNs < REAL_TIME_INTERVAL_NS && !isFromBefore(lastFrameNs, nowNs);
}

/** The later one of two frames. One from before the clock was stepped back is the earlier. */
export function laterFrame(oneNs: bigint, otherNs: bigint, nowNs: bigint): bigint {
  if (isFromBefore(oneNs, nowNs)) return otherNs;
  return isFromBefore(otherNs, nowNs) || oneNs > otherNs ? oneNs : otherNs;
}

function isFromBefore(timeNs: bigint, nowNs: bigint): boolean {
  return timeNs - nowNs > AHEAD_NS_MAX;
}

/** A write to a socket takes 10 to 20 µs: frames for so many connections hold up other messages for less than a millisecond. */
const FEW_CONNECTIONS = 32;

/** Whether there are groups and the frames for all of them are sent soon: they go to few connections and need no signature. */
export function areSentSoon(groups: readonly Group[]): boolean {
  let connections = 0;
  for (const { members, waiting, payers } of groups) {
    connections += members.size + waiting.size;
    if (connections > FEW_CONNECTIONS || payers !== undefined) return false;
  }
  return connections > 0;
}
