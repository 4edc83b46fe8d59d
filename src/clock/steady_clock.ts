import { uptime } from 'node:os';
import { type Clock, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';

/** The clocks of the system that {@link steadyClock} reads. */
export interface SteadyClockSources {
  wallMs(): number;
  /** The time since an unknown start, without the time in which the machine was suspended. */
  monotonicNs(): bigint;
  /** The seconds since the machine's start, with the time in which it was suspended. */
  uptimeS(): number;
}

const SYSTEM: SteadyClockSources = {
  wallMs: () => Date.now(),
  monotonicNs: () => process.hrtime.bigint(),
  uptimeS: uptime,
};

/** The interval at which the clock checks whether the machine was suspended. */
const CHECK_NS = 250n * NS_PER_MS;
/** The shortest suspension that counts. The system gives its uptime in hundredths of a second. */
const SUSPENSION_NS_MIN = NS_PER_SECOND;
const NS_PER_HUNDREDTH = NS_PER_SECOND / 100n;

/**
 * Creates a clock for ages. It begins at the wall clock's time, and then follows the monotonic clock alone, so no step of the wall clock
 * makes anything younger. A suspension of the machine counts as time that has passed.
 */
export function steadyClock({ wallMs, monotonicNs, uptimeS }: SteadyClockSources = SYSTEM): Clock {
  const startNs = monotonicNs();
  const offsetNs = BigInt(wallMs()) * NS_PER_MS - startNs;
  const uptimeNs = () => BigInt(Math.round(uptimeS() * 100)) * NS_PER_HUNDREDTH;
  const startUptimeNs = uptimeNs();
  let lookedNs = startNs;
  let suspendedNs = 0n;
  return {
    nowNs() {
      const nowNs = monotonicNs();
      if (nowNs - lookedNs >= CHECK_NS) {
        lookedNs = nowNs;
        const foundNs = uptimeNs() - startUptimeNs - (nowNs - startNs);
        if (foundNs - suspendedNs >= SUSPENSION_NS_MIN) suspendedNs = foundNs;
      }
      return (nowNs + offsetNs + suspendedNs) as TimeNs;
    },
  };
}
