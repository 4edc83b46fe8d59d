import { NS_PER_SECOND, type TimeNs } from '../model/time.js';

/** The time over which the least delay of a market's frames is searched. */
const WINDOW_BUCKETS = 60n;
const BUCKET_NS = 10n * NS_PER_SECOND;
/** The number of frames without which the window shows no offset. */
const FRAMES_MIN = 30;

/** The frames of ten seconds: their number, and the least delay among them. A delay is the time of receipt minus the market's time. */
export interface DelayBucket {
  readonly bucket: bigint;
  frames: number;
  leastNs: bigint;
}

/**
 * The distance between a market's clock and the clock of this host: the least delay of the market's frames during ten minutes. A market that
 * only sends late from time to time has frames with a small delay too; a clock that is wrong has none.
 *
 * A market's clock that is behind counts only after ten minutes with at least 30 frames: before, the market may just as well be late. A
 * clock that is ahead counts at once, because this makes its quotes older.
 */
export class ClockOffset {
  readonly #buckets: DelayBucket[];
  /** The bucket of the first frame, without a pause of ten minutes since. */
  #first: bigint | undefined;
  #frames = 0;
  #leastNs = 0n;

  constructor(saved: readonly DelayBucket[] = [], first?: bigint) {
    this.#buckets = saved.map((bucket) => ({ ...bucket }));
    this.#first = first;
    this.#sumBuckets();
  }

  /** Adds the delay of a frame. */
  add(receivedNs: TimeNs, delayNs: bigint): void {
    const bucket = receivedNs / BUCKET_NS;
    const last = this.#buckets.at(-1);
    if (last !== undefined && bucket <= last.bucket) {
      last.frames++;
      this.#frames++;
      if (delayNs < last.leastNs) last.leastNs = delayNs;
      if (delayNs < this.#leastNs) this.#leastNs = delayNs;
      return;
    }
    this.#buckets.push({ bucket, frames: 1, leastNs: delayNs });
    while (this.#buckets[0]!.bucket < bucket - WINDOW_BUCKETS) this.#buckets.shift();
    if (this.#buckets.length === 1) this.#first = bucket;
    this.#sumBuckets();
  }

  /** The delay of a frame that comes without any lag; `undefined` while it is unknown. */
  get leastNs(): bigint | undefined {
    const last = this.#buckets.at(-1);
    if (last === undefined) return undefined;
    const isKnown = last.bucket - this.#first! >= WINDOW_BUCKETS && this.#frames >= FRAMES_MIN;
    return isKnown || this.#leastNs < 0n ? this.#leastNs : undefined;
  }

  /** The state, for another instance. */
  get saved(): { readonly buckets: readonly DelayBucket[]; readonly first: bigint | undefined } {
    return { buckets: this.#buckets, first: this.#first };
  }

  #sumBuckets(): void {
    this.#frames = this.#buckets.reduce((sum, { frames }) => sum + frames, 0);
    this.#leastNs = this.#buckets.reduce(
      (least, { leastNs }) => (leastNs < least ? leastNs : least),
      this.#buckets[0]?.leastNs ?? 0n,
    );
  }
}
