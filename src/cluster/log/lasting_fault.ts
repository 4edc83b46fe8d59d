/** A fault of the log that a lagging server shows too: it counts when it is still there after some time. */
export class LastingFault {
  readonly #nowMs: () => number;
  readonly #lastsMs: number;
  #sinceMs: number | undefined;

  /** @param lastsMs the time for which a server may lag */
  constructor(nowMs: () => number, lastsMs: number) {
    this.#nowMs = nowMs;
    this.#lastsMs = lastsMs;
  }

  get isThere(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** Notes that the fault is there. @returns true when it has been there for so long that it counts */
  seen(): boolean {
    this.#sinceMs ??= this.#nowMs();
    return this.#nowMs() - this.#sinceMs >= this.#lastsMs;
  }

  /** Notes that the fault is not there. */
  gone(): void {
    this.#sinceMs = undefined;
  }
}
