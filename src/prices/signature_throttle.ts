/** The time for which a caller stays limited after a flood of bad signatures. */
const SUSPICION_S = 10n;

/**
 * Limits the number of bad signatures of one caller that are verified in a second. No other limit applies to a caller below this
 * limit. For {@link SUSPICION_S} seconds after exceeding the limit, a caller may have at most the same number of updates in
 * verification.
 */
export class SignatureThrottle {
  readonly #badPerSecondMax: number;
  #second = 0n;
  #bad = 0;
  #pending = 0;
  #suspectUntil = 0n;

  constructor(badPerSecondMax: number) {
    this.#badPerSecondMax = badPerSecondMax;
  }

  /** Returns the number of updates that may be verified now. */
  allowance(second: bigint): number {
    if (!this.#isSuspect(second)) return Number.POSITIVE_INFINITY;
    this.#enterSecond(second);
    return Math.max(0, this.#badPerSecondMax - this.#bad - this.#pending);
  }

  /**
   * Returns the second in which the caller's updates are verified again, if the bad signatures of this second have used up the
   * allowance.
   */
  allowedFrom(second: bigint): bigint | undefined {
    const isUsedUp = this.#isSuspect(second) && second === this.#second && this.#bad >= this.#badPerSecondMax;
    return isUsedUp ? second + 1n : undefined;
  }

  /** Returns whether this throttle behaves like a new throttle. */
  isAtRest(second: bigint): boolean {
    return !this.#isSuspect(second) && this.#pending === 0 && (this.#bad === 0 || second !== this.#second);
  }

  begin(count: number): void {
    this.#pending += count;
  }

  end(count: number, bad: number, second: bigint): void {
    this.#pending -= count;
    if (bad === 0) return;
    this.#enterSecond(second);
    this.#bad += bad;
    if (this.#bad >= this.#badPerSecondMax) this.#suspectUntil = second + SUSPICION_S;
  }

  /**
   * Returns whether the caller is limited. Ignores an end of the limit that is too far in the future, because it was set before
   * the clock stepped back.
   */
  #isSuspect(second: bigint): boolean {
    return second < this.#suspectUntil && this.#suspectUntil <= second + SUSPICION_S;
  }

  #enterSecond(second: bigint): void {
    if (second === this.#second) return;
    this.#second = second;
    this.#bad = 0;
  }
}
