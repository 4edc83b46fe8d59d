/**
 * The times that the connections of a stream have covered. A connection covers the time from its first payload to its last payload,
 * except times in which payloads were lost. Prices of a time that no connection covered may be missing.
 */
export class Coverage {
  readonly #intervalNs: bigint;
  readonly #onGap: (fromNs: bigint, toNs: bigint) => void;
  /** The first and the last payload of each connection that is up, by service. */
  readonly #up = new Map<number, { readonly sinceNs: bigint; lastNs: bigint }>();
  /** The last payload of lost connections, or the end of the last gap. */
  #endNs: bigint | undefined;

  /**
   * @param intervalNs the interval of the channel; 0 on `real_time`
   * @param onGap called with the last time before a gap and the first time after the gap
   */
  constructor(intervalNs: bigint, onGap: (fromNs: bigint, toNs: bigint) => void) {
    this.#intervalNs = intervalNs;
    this.#onGap = onGap;
  }

  /**
   * Records a payload of a service.
   * @param isAfterLoss true when payloads between this payload and the last payload of the connection were lost
   * @returns true for the first payload of a connection
   */
  seen(service: number, lastNs: bigint, isAfterLoss = false): boolean {
    const known = this.#up.get(service);
    if (known !== undefined && !isAfterLoss) {
      known.lastNs = lastNs;
      return false;
    }
    if (known !== undefined) this.lost(service);
    this.#up.set(service, { sinceNs: lastNs, lastNs });
    if (this.#up.size === 1) this.#reportGapTo(lastNs);
    return known === undefined;
  }

  /** True while a connection is up. */
  get isUp(): boolean {
    return this.#up.size > 0;
  }

  /** Records that the connection of a service was lost. */
  lost(service: number): void {
    const lost = this.#up.get(service);
    if (lost === undefined) return;
    this.#up.delete(service);
    if (this.#endNs === undefined || lost.lastNs > this.#endNs) this.#endNs = lost.lastNs;
    const [first] = [...this.#up.values()].sort((a, b) => (a.sinceNs < b.sinceNs ? -1 : 1));
    if (first !== undefined) this.#reportGapTo(first.sinceNs);
  }

  #reportGapTo(toNs: bigint): void {
    const fromNs = this.#endNs;
    if (fromNs === undefined || toNs <= fromNs) return;
    // On a fixed channel each payload belongs to a tick, and two consecutive ticks have no gap.
    const interval = this.#intervalNs;
    if (interval > 0n && toNs / interval - fromNs / interval <= 1n) return;
    this.#endNs = toNs;
    this.#onGap(fromNs, toNs);
  }
}
