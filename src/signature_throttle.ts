/** How long a connection that sent a bad signature is watched. */
const SUSPICION_S = 10n;

/**
 * What verifying the signatures of one connection may cost when they are bad: so many a second. A connection that sent
 * none of late is not held back, whatever it sends; one that did has at most so many at the verifiers at once.
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
    this.#suspectUntil = second + SUSPICION_S;
  }

  #enter(second: bigint): void {
    if (second === this.#second) return;
    this.#second = second;
    this.#bad = 0;
  }
}
