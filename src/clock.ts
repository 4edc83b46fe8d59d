import { type Clock, NS_PER_MS, type TimeNs } from './model/time.js';

/**
 * The system's wall clock with the resolution of the monotonic one: `Date.now()` says which millisecond it is, and
 * `process.hrtime` how far into it, so a clock that is stepped by an operator or by NTP is followed at once.
 */
export function systemClock(): Clock {
  let anchorWallNs = BigInt(Date.now()) * NS_PER_MS;
  let anchorMonotonicNs = process.hrtime.bigint();
  return {
    nowNs() {
      const wallNs = BigInt(Date.now()) * NS_PER_MS;
      const timeNs = anchorWallNs + (process.hrtime.bigint() - anchorMonotonicNs);
      const driftNs = timeNs - wallNs;
      if (driftNs >= -NS_PER_MS && driftNs < 2n * NS_PER_MS) return timeNs as TimeNs;
      anchorWallNs = wallNs;
      anchorMonotonicNs = process.hrtime.bigint();
      return wallNs as TimeNs;
    },
  };
}
