import type { Platform } from '../connect/platform.js';
import type { Check } from '../verify/checks.js';
import type { PayloadReport } from '../verify/verify_payload.js';

/**
 * The largest relative drift between this machine's monotonic clock and the service's clock. A cheap quartz clock drifts by a tenth of
 * this share.
 */
const DRIFT_SHARE_MAX = 0.0002;

/**
 * The clock of a service, from the verified frames of one connection. The frame with the shortest delay gives the difference between
 * the service's clock and the monotonic clock of this machine. Therefore a wrong clock of this machine makes no price old, but a delay
 * makes a frame old.
 */
export class ServiceClock {
  readonly #platform: Pick<Platform, 'nowMs' | 'steadyMs'>;
  /** The lead of the monotonic clock over the service's clock, and the time of this measurement. */
  #aheadMs = Number.POSITIVE_INFINITY;
  #atMs = 0;

  constructor(platform: Pick<Platform, 'nowMs' | 'steadyMs'>) {
    this.#platform = platform;
  }

  /**
   * Records a verified frame with this time. @returns the frame's age in milliseconds: the larger of the ages by the service's clock
   * and by this machine's clock. Only this machine's clock shows that all frames of a connection are old
   */
  verified(timestampNs: bigint): number {
    const { nowMs, steadyMs } = this.#platform;
    const atMs = steadyMs();
    const madeMs = Number(timestampNs / 1_000n) / 1_000;
    const driftMs = (atMs - this.#atMs) * DRIFT_SHARE_MAX;
    this.#aheadMs = Math.min(atMs - madeMs, this.#aheadMs + driftMs);
    this.#atMs = atMs;
    return Math.max(atMs - this.#aheadMs, nowMs()) - madeMs;
  }

  /**
   * Returns the report on a payload that was verified now. A payload above the largest age fails, because an attacker may have delayed
   * the payload.
   */
  judge(report: PayloadReport, maxAgeMs: number): PayloadReport {
    if (report.verdict === 'failed') return report;
    const ageMs = this.verified(report.payload.timestampNs);
    if (ageMs <= maxAgeMs) return report;
    const reason = `the payload is ${Math.round(ageMs)} ms old, or this machine's clock is ahead; maxAgeMs is ${maxAgeMs}`;
    const age: Check = { name: 'age', status: 'failed', reason };
    return { ...report, verdict: 'failed', checks: [...report.checks, age] };
  }

  /** Returns the current time of the service in UNIX milliseconds. Call this function only after {@link verified}. */
  readonly nowMs = (): number => this.#platform.steadyMs() - this.#aheadMs;
}
