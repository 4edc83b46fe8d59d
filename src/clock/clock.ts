import { type Clock, NS_PER_MS, type TimeNs } from '../model/time.js';

/** The two clocks of a system that its time is read off. */
export interface ClockSources {
  /** The wall clock, cut off to the millisecond. */
  wallMs(): number;
  monotonicNs(): bigint;
}

const SYSTEM: ClockSources = { wallMs: () => Date.now(), monotonicNs: () => process.hrtime.bigint() };

/**
 * The system's wall clock with the resolution of the monotonic one. A clock that is stepped by an operator or by NTP is
 * followed at once, to the millisecond. Two of them, also on different threads, agree within {@link ANCHOR_NS_MAX} as a
 * rule.
 */
export function systemClock(sources: ClockSources = SYSTEM): Clock {
  let anchor = anchorAtMillisecond(sources);
  return {
    nowNs() {
      const wallNs = BigInt(sources.wallMs()) * NS_PER_MS;
      const monotonicNs = sources.monotonicNs();
      const timeNs = anchor.wallNs + (monotonicNs - anchor.monotonicNs);
      if (timeNs < wallNs) {
        // It is that late at least. The next looks bring the rest of what a step left over.
        anchor = { wallNs, monotonicNs };
        return wallNs as TimeNs;
      }
      // What is cut off of the wall clock, and what passes until the other is read, put this one ahead of it.
      if (timeNs - wallNs < 2n * NS_PER_MS) return timeNs as TimeNs;
      anchor = anchorAtMillisecond(sources);
      return (anchor.wallNs + (sources.monotonicNs() - anchor.monotonicNs)) as TimeNs;
    },
  };
}

interface Anchor {
  readonly wallNs: bigint;
  readonly monotonicNs: bigint;
}

/** As exactly as the begin of a millisecond is to be met; a thread that keeps its core meets it within 1 µs. */
const ANCHOR_NS_MAX = 20_000n;
/** On a machine so busy that the thread never keeps its core, the best of these has to do. */
const ATTEMPTS_MAX = 10;

/** Waits, for a millisecond as a rule, until the wall clock shows the next one: then it is known exactly. */
function anchorAtMillisecond(sources: ClockSources): Anchor {
  let best = meetMillisecond(sources);
  for (let attempt = 1; best.withinNs > ANCHOR_NS_MAX && attempt < ATTEMPTS_MAX; attempt++) {
    const next = meetMillisecond(sources);
    if (next.withinNs < best.withinNs) best = next;
  }
  return best;
}

/** @returns `withinNs`: how long it was not looked while the millisecond began; a thread may lose its core meanwhile. */
function meetMillisecond({ wallMs, monotonicNs }: ClockSources): Anchor & { readonly withinNs: bigint } {
  let lastNs = monotonicNs();
  const startMs = wallMs();
  for (;;) {
    const beforeNs = monotonicNs();
    const nowMs = wallMs();
    const afterNs = monotonicNs();
    if (nowMs !== startMs)
      return { wallNs: BigInt(nowMs) * NS_PER_MS, monotonicNs: afterNs, withinNs: afterNs - lastNs };
    lastNs = beforeNs;
  }
}
