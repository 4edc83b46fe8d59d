/** How long a caller stays limited after a flood of bad signatures. */
const SUSPICION_S = 10n;

/**
 * Bounds the bad signatures that one caller may have verified in a second. A caller below the bound is not limited. One that
 * went past it may have at most that many updates at the verifiers for the next {@link SUSPICION_S} seconds.
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

  /** How many updates may be verified now. */
  allowance(second: bigint): number {
    if (!this.#isSuspect(second)) return Number.POSITIVE_INFINITY;
    this.#enter(second);
    return Math.max(0, this.#badPerSecondMax - this.#bad - this.#pending);
  }

  /** The second from which on there is an allowance again, when the bad signatures of this one have used it up. */
  allowedFrom(second: bigint): bigint | undefined {
    const isUsedUp = this.#isSuspect(second) && second === this.#second && this.#bad >= this.#badPerSecondMax;
    return isUsedUp ? second + 1n : undefined;
  }

  /** Whether a new throttle would do the same. */
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

  /** A time that is further ahead than a suspicion lasts is from before the clock was stepped back. */
  #isSuspect(second: bigint): boolean {
    return second < this.#suspectUntil && this.#suspectUntil <= second + SUSPICION_S;
  }

  #enter(second: bigint): void {
    if (second === this.#second) return;
    this.#second = second;
    this.#bad = 0;
  }
}
