import { type Clock, NS_PER_SECOND, type TimeNs } from '../../model/time.js';
import { sharedHeaders } from '../http/response_head.js';
import type { RestResponse } from '../http/rest_exchange.js';
import { CallerTimes } from './caller_times.js';

/** The state of a caller's allowance after a request. */
export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  /** The number of further requests that the caller may send at once. */
  readonly remaining: number;
  /** Seconds until the whole burst is available again, rounded up. */
  readonly resetS: number;
  /** Seconds until a request is allowed again, rounded up; 0 if this request was allowed. */
  readonly retryAfterS: number;
}

/**
 * The headers of allowed requests whose burst is available again within a second, by limit and then by the number of used requests. Most
 * requests are such requests.
 */
const headersOfAllowed = new Map<number, RestResponse['headers'][]>();
const LIMITS_MAX = 1_000;
const USED_MAX = 64;

/** Returns the headers of a response. The headers include `Retry-After` if the request is not allowed. */
export function limitHeaders(allowance: Allowance): RestResponse['headers'] {
  const { allowed, limit, remaining, resetS } = allowance;
  const used = limit - remaining;
  if (!allowed || resetS !== 1 || used > USED_MAX) return newHeaders(allowance);
  let byUsed = headersOfAllowed.get(limit);
  if (byUsed === undefined) {
    if (headersOfAllowed.size >= LIMITS_MAX) headersOfAllowed.clear();
    byUsed = [];
    headersOfAllowed.set(limit, byUsed);
  }
  byUsed[used] ??= sharedHeaders(newHeaders(allowance));
  return byUsed[used];
}

function newHeaders({ allowed, limit, remaining, resetS, retryAfterS }: Allowance): RestResponse['headers'] {
  const headers: [string, string][] = [
    ['RateLimit-Limit', String(limit)],
    ['RateLimit-Remaining', String(remaining)],
    ['RateLimit-Reset', String(resetS)],
  ];
  if (!allowed) headers.push(['Retry-After', String(retryAfterS)]);
  return headers;
}

/**
 * A token bucket for each caller, with exact integers (the generic cell rate algorithm). Each request adds a share of the period
 * to the caller's time. The limiter allows a request if that time is then at most a full burst ahead of the clock. In memory that
 * threads share, the limit holds exactly for all threads together.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #times: CallerTimes;
  /** The most recently used rate. Most callers have the same rate. */
  #rate: Rate = rateOf(1, NS_PER_SECOND);

  constructor(clock: Clock, times = new CallerTimes()) {
    this.#clock = clock;
    this.#times = times;
  }

  /**
   * @param limit the number of requests in a period, and also the burst
   * @param nowNs the time of the clock, for a caller that has already read the clock
   */
  take(
    caller: string,
    limit: number,
    periodNs = NS_PER_SECOND,
    nowNs: TimeNs = this.#clock.nowNs(),
  ): Allowance {
    const rate = this.#rateOf(limit, periodNs);
    // A function for each request, as `update` needs it, would take 1 % of the time of a request.
    for (;;) {
      const place = this.#times.placeOf(caller);
      const beforeNs = this.#times.at(place);
      const { allowance, busyUntilNs } = nextAllowance(beforeNs, rate, nowNs);
      if (this.#times.replace(place, beforeNs, busyUntilNs)) return allowance;
    }
  }

  /** Returns the answer that {@link take} would give, without changing the caller's allowance. */
  peek(caller: string, limit: number, periodNs = NS_PER_SECOND): Allowance {
    const rate = this.#rateOf(limit, periodNs);
    return nextAllowance(this.#times.read(caller), rate, this.#clock.nowNs()).allowance;
  }

  #rateOf(limit: number, periodNs: bigint): Rate {
    if (this.#rate.limit !== limit || this.#rate.periodNs !== periodNs) this.#rate = rateOf(limit, periodNs);
    return this.#rate;
  }
}

interface Rate {
  readonly limit: number;
  readonly periodNs: bigint;
  /** The part of the period that a request uses up. */
  readonly intervalNs: bigint;
  readonly burstNs: bigint;
  /** The allowance of a caller after its first request, with a whole burst before. */
  readonly first: Allowance;
}

function rateOf(limit: number, periodNs: bigint): Rate {
  const intervalNs = periodNs / BigInt(limit);
  const resetS = ceilSeconds(intervalNs);
  const first = { allowed: true, limit, remaining: limit - 1, resetS, retryAfterS: 0 };
  return { limit, periodNs, intervalNs, burstNs: intervalNs * BigInt(limit), first };
}

/**
 * The largest difference between the clocks of two threads. A time that is further ahead than a burst plus this difference was stored
 * before the clock went back.
 */
const CLOCK_STEP_NS = NS_PER_SECOND;

function nextAllowance(
  beforeNs: bigint,
  { limit, intervalNs, burstNs, first }: Rate,
  nowNs: bigint,
): { readonly allowance: Allowance; readonly busyUntilNs: bigint } {
  const isAhead = beforeNs > nowNs && beforeNs <= nowNs + burstNs + CLOCK_STEP_NS;
  if (!isAhead) return { allowance: first, busyUntilNs: nowNs + intervalNs };
  const untilNs = beforeNs + intervalNs;
  const allowed = untilNs <= nowNs + burstNs;
  const busyUntilNs = allowed ? untilNs : beforeNs;
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
  if (durationNs > 0n && durationNs <= NS_PER_SECOND) return 1;
  return Number((durationNs + NS_PER_SECOND - 1n) / NS_PER_SECOND);
}
