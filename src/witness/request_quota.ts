/** Divides a number of requests over a time: all of them at first, and from then on as many as the time brings back. */
export class RequestQuota {
  readonly #max: number;
  /** The price of a request. Each millisecond brings back as much as `max`, so that nothing is rounded. */
  readonly #periodMs: number;
  #left: number;
  #atMs: number;

  /** @param nowMs the time by a clock that nobody sets */
  constructor(max: number, periodMs: number, nowMs: number) {
    this.#max = max;
    this.#periodMs = periodMs;
    this.#left = max * periodMs;
    this.#atMs = nowMs;
  }

  /** True when no request counts any more: the quota then needs no memory. */
  isFull(nowMs: number): boolean {
    return this.#leftAt(nowMs) === this.#max * this.#periodMs;
  }

  /** Takes one request. @returns false when none is left */
  take(nowMs: number): boolean {
    this.#left = this.#leftAt(nowMs);
    this.#atMs = nowMs;
    if (this.#left < this.#periodMs) return false;
    this.#left -= this.#periodMs;
    return true;
  }

  #leftAt(nowMs: number): number {
    return Math.min(this.#max * this.#periodMs, this.#left + (nowMs - this.#atMs) * this.#max);
  }
}
