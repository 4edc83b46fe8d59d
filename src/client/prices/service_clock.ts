import type { Platform } from '../connect/platform.js';
import type { Check } from '../verify/checks.js';
import type { PayloadReport } from '../verify/verify_payload.js';

/** The share by which this machine's steady clock may be faster than the service's: cheap quartz errs by a tenth of it. */
const DRIFT_SHARE_MAX = 0.0002;

/**
 * The clock of a service, from the verified frames of one connection. The frame that arrived soonest after its time gives the
 * difference between that clock and the steady clock of this machine. So a wrong or changed clock of this machine makes no price
 * old, and a delayed frame is old.
 */
export class ServiceClock {
  readonly #platform: Pick<Platform, 'nowMs' | 'steadyMs'>;
  /** The lead of the steady clock over the service's, and the time at which it was true. */
  #aheadMs = Number.POSITIVE_INFINITY;
  #atMs = 0;

  constructor(platform: Pick<Platform, 'nowMs' | 'steadyMs'>) {
    this.#platform = platform;
  }

  /**
   * Notes that a frame of this time was verified. @returns its age in milliseconds, by the service's clock or by this machine's,
   * if that is greater: only this machine's clock shows that all frames of a connection are old
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

  /** Returns the report on a payload that was verified now. A payload above the age has failed: somebody may have kept it back. */
  judge(report: PayloadReport, maxAgeMs: number): PayloadReport {
    if (report.verdict === 'failed') return report;
    const ageMs = this.verified(report.payload.timestampNs);
    if (ageMs <= maxAgeMs) return report;
    const reason = `the payload is ${Math.round(ageMs)} ms old, or this machine's clock is ahead; maxAgeMs is ${maxAgeMs}`;
    const age: Check = { name: 'age', status: 'failed', reason };
    return { ...report, verdict: 'failed', checks: [...report.checks, age] };
  }

  /** Returns the present time of the service in UNIX milliseconds; only after a frame was verified. */
  readonly nowMs = (): number => this.#platform.steadyMs() - this.#aheadMs;
}
