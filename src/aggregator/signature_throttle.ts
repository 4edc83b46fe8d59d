/** How long a connection that flooded us with bad signatures is watched. */
const SUSPICION_S = 10n;

/**
 * What verifying the signatures of one connection may cost when they are bad: so many a second. Below that a connection is
 * not held back, whatever it sends; one that went past it has, for a while, at most so many at the verifiers at once.
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
