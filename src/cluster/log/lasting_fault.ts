/** A fault of the log that a lagging server can also cause. The fault counts only after it has lasted for some time. */
export class LastingFault {
  readonly #nowMs: () => number;
  readonly #lastsMs: number;
  #sinceMs: number | undefined;

  /** @param lastsMs the longest time that a server may lag */
  constructor(nowMs: () => number, lastsMs: number) {
    this.#nowMs = nowMs;
    this.#lastsMs = lastsMs;
  }

  get isThere(): boolean {
    return this.#sinceMs !== undefined;
  }

  /**
   * Records an observation of the fault.
   * @returns true when the fault has lasted long enough to count
   */
  seen(): boolean {
    this.#sinceMs ??= this.#nowMs();
    return this.#nowMs() - this.#sinceMs >= this.#lastsMs;
  }

  /** Records that the fault has ended. */
  gone(): void {
    this.#sinceMs = undefined;
  }
}
