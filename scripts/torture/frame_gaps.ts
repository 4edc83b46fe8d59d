/** The times without a frame of many connections. */
export class FrameGaps {
  readonly #lastMs = new Map<number, number>();
  #longestMs = 0;

  /** Notes a frame. */
  note(connection: number): void {
    const nowMs = performance.now();
    this.#longestMs = Math.max(this.#longestMs, nowMs - (this.#lastMs.get(connection) ?? nowMs));
    this.#lastMs.set(connection, nowMs);
  }

  /** Notes the end of a connection. @returns the time since its last frame */
  end(connection: number): number {
    const silentMs = performance.now() - (this.#lastMs.get(connection) ?? 0);
    this.#lastMs.delete(connection);
    return silentMs;
  }

  /** The number of open connections that have received a frame. */
  get connections(): number {
    return this.#lastMs.size;
  }

  /** Returns the longest time without a frame since the last call, or the current one if it is longer, and begins again. */
  take(): number {
    const current = performance.now() - Math.min(performance.now(), ...this.#lastMs.values());
    const longest = Math.max(this.#longestMs, current);
    this.#longestMs = 0;
    return longest;
  }
}
