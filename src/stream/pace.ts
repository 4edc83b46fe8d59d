import { NS_PER_MS, nextMultiple } from '../model/time.js';
import { REAL_TIME_INTERVAL_MS } from '../wire/stream.js';
import type { Group } from './group.js';

/** `real_time` sends no faster than this. */
const REAL_TIME_INTERVAL_NS = BigInt(REAL_TIME_INTERVAL_MS) * NS_PER_MS;

/** When changes that were too soon are tried again. */
export function nextTryNs(nowNs: bigint): bigint {
  return nextMultiple(nowNs, REAL_TIME_INTERVAL_NS);
}

/** Whether a connection that got a frame then must wait for the next. */
export function isTooSoon(nowNs: bigint, lastFrameNs: bigint): boolean {
  return nowNs >= lastFrameNs && nowNs - lastFrameNs < REAL_TIME_INTERVAL_NS;
}

/** The later one of two frames. A time ahead of the clock is from before it was stepped back, so it is the earlier. */
export function laterFrame(oneNs: bigint, otherNs: bigint, nowNs: bigint): bigint {
  if (oneNs > nowNs) return otherNs;
  return otherNs > nowNs || oneNs > otherNs ? oneNs : otherNs;
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
