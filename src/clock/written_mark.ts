import { NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';

/** The place of a mark on disk. */
export interface MarkPlace {
  read(): TimeNs | undefined;
  /**
   * Writes the mark.
   * @param onSettled receives true when the mark is on disk, and false when the write has failed, now or later
   */
  write(timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void): void;
}

/** The time by which a new mark is ahead of the clock. The mark moves when half of this time is used up. */
const LEAD_NS = 2n * NS_PER_SECOND;
/**
 * The lead for times that are ahead of the clock. This lead is shorter, because these times grow much more slowly than the clock.
 */
const AHEAD_LEAD_NS = 50n * NS_PER_MS;
/** The idle time after which an unused mark no longer moves. The next use of such a mark waits for the disk. */
const IDLE_NS = 10n * NS_PER_SECOND;

/**
 * A time on disk up to which times may be used. A new start uses only times after the mark. So no time is used twice, even if other
 * data was lost.
 */
export class WrittenMark {
  readonly #place: MarkPlace;
  #onDiskNs: bigint;
  #reachNs: bigint;
  #isWriting = false;
  #usedNs: bigint;
  readonly #waiting: (() => void)[] = [];

  constructor(place: MarkPlace, nowNs: TimeNs) {
    this.#place = place;
    this.#onDiskNs = place.read() ?? 0n;
    this.#reachNs = this.#onDiskNs;
    this.#usedNs = nowNs;
  }

  /** The end of all times that this process or an earlier process may have used. */
  get reachNs(): bigint {
    return this.#reachNs;
  }

  /** Returns whether a time may be used. If not, the mark moves past the time, and a later call returns true. */
  covers(timeNs: bigint, nowNs: TimeNs): boolean {
    this.#usedNs = nowNs;
    this.#moveOn(timeNs, nowNs);
    return timeNs <= this.#onDiskNs;
  }

  /** Keeps a used mark ahead of the clock. */
  keep(nowNs: TimeNs): void {
    if (nowNs - this.#usedNs < IDLE_NS) this.#moveOn(nowNs, nowNs);
  }

  /** Resolves when no write is in progress. The last write may have failed. */
  settled(): Promise<void> {
    if (!this.#isWriting) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Moves the mark back to the last used time. No time may be used after this call. */
  end(lastUsedNs: TimeNs): void {
    this.#place.write(lastUsedNs, () => {});
  }

  #moveOn(timeNs: bigint, nowNs: bigint): void {
    const neededNs = laterOf(nowNs + LEAD_NS / 2n, timeNs + AHEAD_LEAD_NS / 2n);
    if (this.#isWriting || neededNs <= this.#onDiskNs) return;
    const markNs = laterOf(nowNs + LEAD_NS, timeNs + AHEAD_LEAD_NS) as TimeNs;
    this.#isWriting = true;
    if (markNs > this.#reachNs) this.#reachNs = markNs;
    this.#place.write(markNs, (isOnDisk) => {
      this.#isWriting = false;
      if (isOnDisk) this.#onDiskNs = markNs;
      for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }
}

function laterOf(oneNs: bigint, otherNs: bigint): bigint {
  return oneNs > otherNs ? oneNs : otherNs;
}
