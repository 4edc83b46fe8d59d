import { type Clock, NS_PER_MS, type TimeNs } from './model/time.js';

/**
 * The system's wall clock with the resolution of the monotonic one. A clock that is stepped by an operator or by NTP is
 * followed at once. Two of them, also on different threads, agree within microseconds.
 */
export function systemClock(): Clock {
  let anchor = anchorAtMillisecond();
  return {
    nowNs() {
      const wallNs = BigInt(Date.now()) * NS_PER_MS;
      const timeNs = anchor.wallNs + (process.hrtime.bigint() - anchor.monotonicNs);
      const aheadNs = timeNs - wallNs;
      // `Date.now` is cut off to the millisecond, so within one the two may differ by that much.
      if (aheadNs >= -NS_PER_MS && aheadNs < 2n * NS_PER_MS) return timeNs as TimeNs;
      anchor = anchorAtMillisecond();
      return anchor.wallNs as TimeNs;
    },
  };
}

/** Waits, for at most a millisecond, until the wall clock shows the next one: then it is known to the microsecond. */
function anchorAtMillisecond(): { readonly wallNs: bigint; readonly monotonicNs: bigint } {
  const startMs = Date.now();
  let nowMs = startMs;
  while (nowMs === startMs) nowMs = Date.now();
  return { wallNs: BigInt(nowMs) * NS_PER_MS, monotonicNs: process.hrtime.bigint() };
}
