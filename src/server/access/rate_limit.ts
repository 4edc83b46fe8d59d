import { type Clock, NS_PER_SECOND } from '../../model/time.js';

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

/** Callers whose allowance is remembered. A caller at rest has a full one, so forgetting the idle loses nothing. */
const CALLERS_MAX = 100_000;

/**
 * A token bucket per caller on exact integers: each request moves the caller's time a share of the period on, and it is
 * allowed while that time is at most a full burst ahead of the clock (the generic cell rate algorithm).
 */
export class RateLimiter {
  readonly #clock: Clock;
  /** In the order of the callers' last requests. */
  readonly #busyUntilNs = new Map<string, bigint>();
  #lastCaller: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param limit requests in a period, also the burst */
  take(caller: string, limit: number, periodNs = NS_PER_SECOND): Allowance {
    const nowNs = this.#clock.nowNs();
    const { allowance, busyUntilNs } = this.#next(caller, limit, periodNs, nowNs);
    this.#remember(caller, busyUntilNs, nowNs);
    return allowance;
  }

  /** What {@link take} would answer; the caller's allowance stays as it is. */
  peek(caller: string, limit: number, periodNs = NS_PER_SECOND): Allowance {
    return this.#next(caller, limit, periodNs, this.#clock.nowNs()).allowance;
  }

  #next(caller: string, limit: number, periodNs: bigint, nowNs: bigint) {
    const intervalNs = periodNs / BigInt(limit);
    const burstNs = intervalNs * BigInt(limit);
    const before = this.#busyUntilNs.get(caller) ?? 0n;
    // A time more than a burst ahead is from before the clock was stepped back.
    const startNs = before > nowNs && before <= nowNs + burstNs ? before : nowNs;
    const untilNs = startNs + intervalNs;
    const allowed = untilNs <= nowNs + burstNs;
    const busyUntilNs = allowed ? untilNs : startNs;
    const allowance = {
      allowed,
      limit,
      remaining: Number((nowNs + burstNs - busyUntilNs) / intervalNs),
      resetS: ceilSeconds(busyUntilNs - nowNs),
      retryAfterS: allowed ? 0 : ceilSeconds(untilNs - burstNs - nowNs),
    };
    return { allowance, busyUntilNs };
  }

  #remember(caller: string, busyUntilNs: bigint, nowNs: bigint): void {
    // Who asks again at once is at the end already.
    if (caller === this.#lastCaller) {
      this.#busyUntilNs.set(caller, busyUntilNs);
      return;
    }
    this.#lastCaller = caller;
    this.#busyUntilNs.delete(caller);
    this.#busyUntilNs.set(caller, busyUntilNs);
    for (const [oldest, untilNs] of this.#busyUntilNs) {
      if (untilNs > nowNs && this.#busyUntilNs.size <= CALLERS_MAX) break;
      this.#busyUntilNs.delete(oldest);
    }
  }
}

function ceilSeconds(durationNs: bigint): number {
  return Number((durationNs + NS_PER_SECOND - 1n) / NS_PER_SECOND);
}
