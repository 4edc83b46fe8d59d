import { type Clock, NS_PER_SECOND } from '../../model/time.js';

/** What one more request did to its caller's allowance, for the `RateLimit-*` headers. */
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

/** Callers whose allowance is remembered. A caller at rest has a full one, so forgetting the idle loses nothing. */
const CALLERS_MAX = 100_000;

/**
 * A token bucket per caller on exact integers: each request moves the caller's time `1 / rate` seconds on, and it is
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

  /** @param requestsPerSecond also the burst. */
  take(caller: string, requestsPerSecond: number): Allowance {
    const nowNs = this.#clock.nowNs();
    const intervalNs = NS_PER_SECOND / BigInt(requestsPerSecond);
    const burstNs = intervalNs * BigInt(requestsPerSecond);
    const before = this.#busyUntilNs.get(caller) ?? 0n;
    // A time more than a burst ahead is from before the clock was stepped back.
    const startNs = before > nowNs && before <= nowNs + burstNs ? before : nowNs;
    const untilNs = startNs + intervalNs;
    const allowed = untilNs <= nowNs + burstNs;
    const busyUntilNs = allowed ? untilNs : startNs;
    this.#remember(caller, busyUntilNs, nowNs);
    return {
      allowed,
      limit: requestsPerSecond,
      remaining: Number((nowNs + burstNs - busyUntilNs) / intervalNs),
      resetS: ceilSeconds(busyUntilNs - nowNs),
      retryAfterS: allowed ? 0 : ceilSeconds(untilNs - burstNs - nowNs),
    };
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
