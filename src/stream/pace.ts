import { NS_PER_MS, nextMultiple } from '../model/time.js';
import { REAL_TIME_INTERVAL_MS } from '../wire/stream.js';

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
