/** How long a connection stays limited after a flood of bad signatures. */
const SUSPICION_S = 10n;

/**
 * Bounds the bad signatures that one connection may have verified in a second. A connection below the bound is not limited. One that
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
    if (second >= this.#suspectUntil) return Number.POSITIVE_INFINITY;
    this.#enter(second);
    return Math.max(0, this.#badPerSecondMax - this.#bad - this.#pending);
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

  #enter(second: bigint): void {
    if (second === this.#second) return;
    this.#second = second;
    this.#bad = 0;
  }
}
