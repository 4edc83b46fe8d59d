import { type Clock, earlierOf, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { type MarkPlace, WrittenMark } from './written_mark.js';

/** The longest wait for the disk that is not reported as a fault. */
const HELD_NS_MAX = NS_PER_SECOND;

/**
 * The signing times of aggregates. Each time is later than every earlier time of any asset and key. A time is normally the clock's
 * time. While the clock is behind the last time, for example after a step back, a time is the last time plus 1 ns.
 *
 * The service serves aggregates before they are durable. So a time is used only if a mark on disk covers the time, and a new start
 * uses only times after the mark.
 */
export class AggregateTimes {
  readonly #clock: Clock;
  readonly #mark: WrittenMark;
  readonly #latestNs: () => bigint | undefined;
  #lastNs: bigint;
  #heldSinceNs: bigint | undefined;
  #isClosed = false;

  /**
   * @param startAfterNs the latest time that a version without marks may have used
   * @param latestNs returns the latest time that the clock may have, if another clock is known. Times are never later than this
   * result
   */
  constructor(
    clock: Clock,
    place: MarkPlace,
    startAfterNs: bigint,
    latestNs: () => bigint | undefined = () => undefined,
  ) {
    const nowNs = clock.nowNs();
    this.#clock = clock;
    this.#latestNs = latestNs;
    this.#mark = new WrittenMark(place, nowNs);
    this.#lastNs = this.#mark.reachNs > startAfterNs ? this.#mark.reachNs : startAfterNs;
    this.#mark.covers(this.#lastNs, nowNs);
  }

  /** Resolves when the mark is on disk, or when the write of the mark failed. */
  settled(): Promise<void> {
    return this.#mark.settled();
  }

  /**
   * Returns a time later than every earlier time. Returns `undefined` while the mark on disk does not cover the time; the caller then
   * tries again soon.
   */
  next(): TimeNs | undefined {
    const nowNs = this.#clock.nowNs();
    const latestNs = earlierOf(nowNs, this.#latestNs())!;
    const timeNs = latestNs > this.#lastNs ? latestNs : this.#lastNs + 1n;
    if (this.#isClosed || !this.#mark.covers(timeNs, nowNs)) {
      this.#heldSinceNs ??= nowNs;
      return undefined;
    }
    this.#heldSinceNs = undefined;
    this.#lastNs = timeNs;
    return timeNs as TimeNs;
  }

  /**
   * Ends the last complete period. From now on, all times are at or after the period's end. Periods begin at multiples of their
   * length.
   * @returns the end; if the last time is ahead of the clock, the result is later than the period's end
   */
  endPeriod(periodNs: bigint): bigint {
    const latestNs = earlierOf(this.#clock.nowNs(), this.#latestNs())!;
    return this.notBefore(latestNs - (latestNs % periodNs));
  }

  /**
   * Moves the next times to `timeNs` or later.
   * @returns the first time that may be used
   */
  notBefore(timeNs: bigint): bigint {
    if (timeNs > this.#lastNs + 1n) this.#lastNs = timeNs - 1n;
    return this.#lastNs + 1n;
  }

  /**
   * Keeps the mark ahead of the clock. The caller must call this method a few times a second, so that signatures normally do not wait
   * for the disk.
   */
  tick(nowNs: TimeNs): void {
    this.#mark.keep(nowNs);
  }

  /** The distance by which the last time is ahead of the clock. */
  get aheadNs(): bigint {
    const aheadNs = this.#lastNs - this.#clock.nowNs();
    return aheadNs > 0n ? aheadNs : 0n;
  }

  /** True if the last call of {@link next} returned no time. */
  get isWaiting(): boolean {
    return this.#heldSinceNs !== undefined;
  }

  /** Returns whether signing has stopped for more than a second because the mark cannot be written. */
  isHeld(nowNs: TimeNs): boolean {
    return this.#heldSinceNs !== undefined && isLongAgo(this.#heldSinceNs, nowNs);
  }

  /**
   * Stops the times. After this call, {@link next} returns no more times. A clean stop writes an exact mark, so the times of the
   * next start are not ahead of the clock.
   */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#mark.end(this.#lastNs as TimeNs);
  }
}

/** The longest skip of {@link startOfTerm}. */
const SKIP_NS_MAX = 1_000_000;

/**
 * Returns the time after which a new leader of a cluster signs. The NATS servers may have lost records with times directly after
 * the newest known time. A leader whose clock is behind would use these times again. To avoid this, the leader skips a random
 * part of a millisecond.
 * @param random a number from 0 to below 1
 */
export function startOfTerm(newestNs: bigint, random: number): bigint {
  return newestNs + BigInt(Math.floor(random * SKIP_NS_MAX));
}

/**
 * Returns whether more than a second has passed since `sinceNs`. Also returns true if `sinceNs` is after the clock's time,
 * because the clock was then stepped back.
 */
export function isLongAgo(sinceNs: bigint, nowNs: bigint): boolean {
  return nowNs < sinceNs || nowNs - sinceNs > HELD_NS_MAX;
}
