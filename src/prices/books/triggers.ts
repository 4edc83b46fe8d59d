import { type Asset, type AssetIndex, PERCENT_SCALE } from '../../model/asset.js';
import type { Price } from '../../model/price.js';
import { earlierOf, nextMultiple, type TimeNs } from '../../model/time.js';

/**
 * Decides when an aggregate is signed. A price is signed at each wall-clock multiple of the asset's `clock_period`. A price is
 * also signed immediately in two cases: the price moved by `delta_percent` since the last signed price, or the price is the
 * asset's first price.
 */
export class SigningTriggers {
  /** Last signed prices by asset index. */
  readonly #lastSigned: (Price | undefined)[];
  /** The smallest move since the last signed price that counts as a delta. Each value is computed at its first use. */
  readonly #moveMin: (bigint | undefined)[] = [];
  readonly #schedules: { readonly periodNs: bigint; nextNs: bigint; readonly assets: readonly Asset[] }[];

  /** @param before the earlier triggers; the new triggers replace them and keep their last signed prices */
  constructor(assets: readonly Asset[], nowNs: TimeNs, before?: SigningTriggers) {
    this.#lastSigned = before ? [...before.#lastSigned] : [];
    const byPeriod = new Map<bigint, Asset[]>();
    for (const asset of assets) {
      const those = byPeriod.get(asset.clockPeriodNs);
      if (those) those.push(asset);
      else byPeriod.set(asset.clockPeriodNs, [asset]);
    }
    this.#schedules = [...byPeriod].map(([periodNs, those]) => ({
      periodNs,
      nextNs: nextMultiple(nowNs, periodNs),
      assets: those,
    }));
  }

  /** Returns whether this price must be signed immediately. */
  isDelta({ index, delta }: Asset, price: Price): boolean {
    const last = this.#lastSigned[index];
    if (last === undefined) return true;
    this.#moveMin[index] ??= leastMove(delta, last);
    return (price > last ? price - last : last - price) >= this.#moveMin[index];
  }

  /** Records the price that was signed last. */
  signed(index: AssetIndex, price: Price): void {
    this.#lastSigned[index] = price;
    this.#moveMin[index] = undefined;
  }

  /** Records that the asset lost its price. The asset's next price counts as its first price. */
  ended(index: AssetIndex): void {
    this.#lastSigned[index] = undefined;
  }

  /** The time at which the next period ends; `undefined` without assets. */
  get nextDueNs(): bigint | undefined {
    return this.#schedules.reduce<bigint | undefined>(
      (first, { nextNs }) => earlierOf(first, nextNs),
      undefined,
    );
  }

  /** Returns the assets whose period has ended since the last call, including the assets without a price. */
  due(nowNs: TimeNs): Asset[] {
    const due: Asset[] = [];
    for (const schedule of this.#schedules) {
      const nextNs = nextMultiple(nowNs, schedule.periodNs);
      // After a step back of more than a period, periods are counted from the new time.
      if (nowNs >= schedule.nextNs) due.push(...schedule.assets);
      if (nowNs >= schedule.nextNs || nextNs < schedule.nextNs) schedule.nextNs = nextNs;
    }
    return due;
  }
}

/** Returns the share `delta` of the price, rounded up, and at least 1. */
function leastMove(delta: bigint, price: Price): bigint {
  const move = (delta * (price < 0n ? -price : price) + HUNDRED_PERCENT - 1n) / HUNDRED_PERCENT;
  return move > 0n ? move : 1n;
}

const HUNDRED_PERCENT = 100n * BigInt(PERCENT_SCALE);
