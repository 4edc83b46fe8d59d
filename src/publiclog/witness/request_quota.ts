/** A token bucket. It allows `max` requests at once, and gains `max` requests in each period. */
export class RequestQuota {
  readonly #max: number;
  /** The cost of a request. Each millisecond adds `max`, so all values are exact integers. */
  readonly #periodMs: number;
  #left: number;
  #atMs: number;

  /** @param nowMs the milliseconds of a monotonic clock */
  constructor(max: number, periodMs: number, nowMs: number) {
    this.#max = max;
    this.#periodMs = periodMs;
    this.#left = max * periodMs;
    this.#atMs = nowMs;
  }

  /** True when the quota is full. The caller can then forget the quota. */
  isFull(nowMs: number): boolean {
    return this.#leftAt(nowMs) === this.#max * this.#periodMs;
  }

  /** Takes one request. @returns false when no request is left */
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
