/**
 * Detects the payloads of a connection before which other payloads were lost. The client itself loses payloads: it drops outdated
 * payloads of a backlog, and refuses payloads that fail their checks. The service loses payloads too: a slow reader receives only the
 * newest prices.
 */
export class LostPayloads {
  readonly #hasIntervals: boolean;
  #isAfterLoss = false;
  /** True when the client dropped payloads of the present backlog. */
  #isLongBacklog = false;
  #lastNs = 0n;
  /** The time of the service at which the last payload passed its checks, in UNIX milliseconds. */
  #passedMs = Number.NEGATIVE_INFINITY;

  /** @param hasIntervals true on a fixed channel, where the caller ignores a loss between two consecutive ticks */
  constructor(hasIntervals: boolean) {
    this.#hasIntervals = hasIntervals;
  }

  /** Records that a payload was refused or left. */
  lost(): void {
    this.#isAfterLoss = true;
  }

  /** Records that payloads of a backlog were dropped. */
  dropped(): void {
    this.#isAfterLoss = true;
    this.#isLongBacklog = true;
  }

  /**
   * Records a payload that passed its checks. @returns true when payloads before this payload were lost
   * @param nowMs the present time of the service in UNIX milliseconds
   */
  passed(timestampNs: bigint, nowMs: number): boolean {
    const isAfterLoss = this.#isAfterLoss || this.#isLeftOut(timestampNs, nowMs);
    if (!this.#isAfterLoss && !this.#wasOnItsWay(timestampNs)) this.#isLongBacklog = false;
    this.#isAfterLoss = false;
    this.#lastNs = timestampNs;
    this.#passedMs = nowMs;
    return isAfterLoss;
  }

  /**
   * Returns whether the service may have left out payloads. A service does so only while earlier payloads are on their way. On
   * `real_time` that is usual, so only the end of a long backlog counts: a payload that is younger than its distance to the payload
   * before it.
   */
  #isLeftOut(timestampNs: bigint, nowMs: number): boolean {
    if (!this.#wasOnItsWay(timestampNs)) return false;
    const isYoung = nowMs - msOf(timestampNs) < msOf(timestampNs - this.#lastNs);
    return this.#hasIntervals || (this.#isLongBacklog && isYoung);
  }

  /** Returns whether the service made a payload before the last payload passed its checks. */
  #wasOnItsWay(timestampNs: bigint): boolean {
    return this.#passedMs >= msOf(timestampNs);
  }
}

function msOf(ns: bigint): number {
  return Number(ns / 1_000n) / 1_000;
}
