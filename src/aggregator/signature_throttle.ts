/** The time for which a caller stays limited after a flood of bad signatures. */
const SUSPICION_S = 10n;

/**
 * Bounds the bad signatures that one caller may have verified in a second. A caller below the bound is not limited. A caller that
 * exceeded the bound may have at most that many updates in verification for the next {@link SUSPICION_S} seconds.
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

  /** Returns how many updates may be verified now. */
  allowance(second: bigint): number {
    if (!this.#isSuspect(second)) return Number.POSITIVE_INFINITY;
    this.#enter(second);
    return Math.max(0, this.#badPerSecondMax - this.#bad - this.#pending);
  }

  /** Returns the second from which there is an allowance again, if the bad signatures of this second have used it up. */
  allowedFrom(second: bigint): bigint | undefined {
    const isUsedUp = this.#isSuspect(second) && second === this.#second && this.#bad >= this.#badPerSecondMax;
    return isUsedUp ? second + 1n : undefined;
  }

  /** Tells whether a new throttle would do the same. */
  isAtRest(second: bigint): boolean {
    return !this.#isSuspect(second) && this.#pending === 0 && (this.#bad === 0 || second !== this.#second);
  }

  begin(count: number): void {
    this.#pending += count;
  }

  end(count: number, bad: number, second: bigint): void {
    this.#pending -= count;
    if (bad === 0) return;
    this.#enter(second);
    this.#bad += bad;
    if (this.#bad >= this.#badPerSecondMax) this.#suspectUntil = second + SUSPICION_S;
  }

  /** Treats a time that is further ahead than a suspicion lasts as one from before the clock was stepped back. */
  #isSuspect(second: bigint): boolean {
    return second < this.#suspectUntil && this.#suspectUntil <= second + SUSPICION_S;
  }

  #enter(second: bigint): void {
    if (second === this.#second) return;
    this.#second = second;
    this.#bad = 0;
  }
}
