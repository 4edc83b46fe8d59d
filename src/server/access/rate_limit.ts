import { type Clock, NS_PER_SECOND } from '../../model/time.js';
import { CallerTimes } from './caller_times.js';

/** What one more request did to its caller's allowance, or would do. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests that may follow at once. */
  readonly remaining: number;
  /** Seconds until the whole burst is there again, rounded up. */
  readonly resetS: number;
  /** Seconds until one request is allowed again, rounded up; 0 when this one was. */
  readonly retryAfterS: number;
}

/** How a response says it; with `Retry-After` where the request is not allowed. */
export function limitHeaders(allowance: Allowance): [name: string, value: string][] {
  const { allowed, limit, remaining, resetS, retryAfterS } = allowance;
  const headers: [string, string][] = [
    ['RateLimit-Limit', String(limit)],
    ['RateLimit-Remaining', String(remaining)],
    ['RateLimit-Reset', String(resetS)],
  ];
  if (!allowed) headers.push(['Retry-After', String(retryAfterS)]);
  return headers;
}

/**
 * A token bucket per caller on exact integers: each request moves the caller's time a share of the period on, and it is
 * allowed while that time is at most a full burst ahead of the clock (the generic cell rate algorithm). The times may be in
 * memory that threads share: then what they count is exact over all of them.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #times: CallerTimes;

  constructor(clock: Clock, times = new CallerTimes()) {
    this.#clock = clock;
    this.#times = times;
  }

  /** @param limit requests in a period, also the burst */
  take(caller: string, limit: number, periodNs = NS_PER_SECOND): Allowance {
    const nowNs = this.#clock.nowNs();
    let allowance: Allowance | undefined;
    this.#times.update(caller, (beforeNs) => {
      const next = nextAllowance(beforeNs, limit, periodNs, nowNs);
      ({ allowance } = next);
      return next.busyUntilNs;
    });
    return allowance!;
  }

  /** What {@link take} would answer; the caller's allowance stays as it is. */
  peek(caller: string, limit: number, periodNs = NS_PER_SECOND): Allowance {
    return nextAllowance(this.#times.read(caller), limit, periodNs, this.#clock.nowNs()).allowance;
  }
}

/** Clocks of threads differ by less; a time that is further ahead than a burst is from before the clock was stepped back. */
const CLOCK_STEP_NS = NS_PER_SECOND;

function nextAllowance(
  beforeNs: bigint,
  limit: number,
  periodNs: bigint,
  nowNs: bigint,
): { readonly allowance: Allowance; readonly busyUntilNs: bigint } {
  const intervalNs = periodNs / BigInt(limit);
  const burstNs = intervalNs * BigInt(limit);
  const isAhead = beforeNs > nowNs && beforeNs <= nowNs + burstNs + CLOCK_STEP_NS;
  const startNs = isAhead ? beforeNs : nowNs;
  const untilNs = startNs + intervalNs;
  const allowed = untilNs <= nowNs + burstNs;
  const busyUntilNs = allowed ? untilNs : startNs;
  const allowance = {
    allowed,
    limit,
    remaining: Math.max(0, Number((nowNs + burstNs - busyUntilNs) / intervalNs)),
    resetS: ceilSeconds(busyUntilNs - nowNs),
    retryAfterS: allowed ? 0 : ceilSeconds(untilNs - burstNs - nowNs),
  };
  return { allowance, busyUntilNs };
}

function ceilSeconds(durationNs: bigint): number {
  return Number((durationNs + NS_PER_SECOND - 1n) / NS_PER_SECOND);
}
