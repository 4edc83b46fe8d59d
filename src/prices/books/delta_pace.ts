import type { AssetIndex } from '../../model/asset.js';
import { earlierOf, NS_PER_SECOND, type TimeNs } from '../../model/time.js';

/**
 * Limits how often an asset is signed because its price moved, so that a publisher whose price jumps with each update does not fill the log. An
 * asset may use the allowance of a second at once. Further moves wait, and the newest price is signed when the allowance permits it.
 */
export class DeltaPace {
  readonly #intervalNs: bigint;
  /** The time at which the whole allowance is available again, by asset index. */
  readonly #busyUntilNs: bigint[] = [];
  /** The assets whose move waits, with the time at which it may be signed. */
  readonly #held = new Map<AssetIndex, bigint>();

  /** @param perSecondMax `limits.delta_aggregates_per_second` */
  constructor(perSecondMax: number) {
    this.#intervalNs = NS_PER_SECOND / BigInt(perSecondMax);
  }

  /** The earliest time at which a waiting move may be signed. */
  get nextDueNs(): bigint | undefined {
    if (this.#held.size === 0) return undefined;
    return [...this.#held.values()].reduce<bigint | undefined>(earlierOf, undefined);
  }

  /** Returns whether a move may be signed now. Otherwise it waits for {@link takeDue}. */
  admit(index: AssetIndex, nowNs: TimeNs): boolean {
    const allowedNs = this.#busyUntil(index, nowNs) + this.#intervalNs - NS_PER_SECOND;
    if (allowedNs <= nowNs) return true;
    this.#held.set(index, allowedNs);
    return false;
  }

  /** Counts an aggregate that was signed because the price moved. */
  signed(index: AssetIndex, nowNs: TimeNs): void {
    this.#busyUntilNs[index] = this.#busyUntil(index, nowNs) + this.#intervalNs;
  }

  /** Returns the assets whose waiting move may be signed now, and no longer holds them. */
  takeDue(nowNs: TimeNs): readonly AssetIndex[] {
    if (this.#held.size === 0) return [];
    const due = [...this.#held].filter(([, atNs]) => atNs <= nowNs || atNs > nowNs + NS_PER_SECOND);
    for (const [index] of due) this.#held.delete(index);
    return due.map(([index]) => index);
  }

  #busyUntil(index: AssetIndex, nowNs: TimeNs): bigint {
    const untilNs = this.#busyUntilNs[index] ?? 0n;
    // A time that is further ahead was stored before the clock stepped back.
    return untilNs > nowNs && untilNs <= nowNs + NS_PER_SECOND + this.#intervalNs ? untilNs : nowNs;
  }
}
