import { type Clock, earlierOf, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { type MarkPlace, WrittenMark } from './written_mark.js';

/** The longest wait for the disk that is not reported. */
const HELD_NS_MAX = NS_PER_SECOND;

/**
 * The times that aggregates are signed with. They grow strictly over all assets and keys: with the clock, and by 1 ns while the
 * clock is behind the last time, as after a step back. A time is only used up to a mark that is on disk, and a start begins past
 * the mark, because aggregates are served before they are durable.
 */
export class AggregateTimes {
  readonly #clock: Clock;
  readonly #mark: WrittenMark;
  readonly #latestNs: () => bigint | undefined;
  #lastNs: bigint;
  #heldSinceNs: bigint | undefined;
  #isClosed = false;

  /**
   * @param startAfterNs times up to this one may have been used before the first mark existed
   * @param latestNs returns the latest time that the clock may have, if another clock is known: times are not ahead of it
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

  /** Resolves when the mark is on disk, or could not be written. */
  settled(): Promise<void> {
    return this.#mark.settled();
  }

  /**
   * Returns a time later than every time before; `undefined` while the mark on disk does not reach so far: the caller tries again
   * soon.
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

  /** Keeps the mark ahead of the clock. Must be called a few times a second, so that signatures normally do not wait for the disk. */
  tick(nowNs: TimeNs): void {
    this.#mark.keep(nowNs);
  }

  /** The distance by which the last time is ahead of the clock. */
  get aheadNs(): bigint {
    const aheadNs = this.#lastNs - this.#clock.nowNs();
    return aheadNs > 0n ? aheadNs : 0n;
  }

  /** True after the last {@link next} gave no time. */
  get isWaiting(): boolean {
    return this.#heldSinceNs !== undefined;
  }

  /** Tells whether nothing has been signed for a while because the mark cannot be written. */
  isHeld(nowNs: TimeNs): boolean {
    return this.#heldSinceNs !== undefined && isLongAgo(this.#heldSinceNs, nowNs);
  }

  /** Ends the times: {@link next} gives no more. A clean stop leaves an exact mark, so the next start is not ahead of the clock. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#mark.end(this.#lastNs as TimeNs);
  }
}

/** Returns true also for a time after the clock's: that time is from before the clock was stepped back. */
export function isLongAgo(sinceNs: bigint, nowNs: bigint): boolean {
  return nowNs < sinceNs || nowNs - sinceNs > HELD_NS_MAX;
}
