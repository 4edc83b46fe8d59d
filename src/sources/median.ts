import { PERCENT_SCALE } from '../model/asset.js';

const WHOLE = 100n * BigInt(PERCENT_SCALE);

/** The distance from the median, in median absolute deviations, beyond which a price is an outlier. */
const DEVIATIONS_MAX = 4n;
/** The smallest number of prices among which an outlier can be found. */
const OUTLIER_PRICES_MIN = 3;

/** Returns the values in ascending order. The lists are short, so insertion is faster than a sort with a comparison function. */
export function sortedOf(values: readonly bigint[]): bigint[] {
  const sorted = [...values];
  for (let i = 1; i < sorted.length; i++) {
    const value = sorted[i]!;
    let at = i;
    for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!;
    sorted[at] = value;
  }
  return sorted;
}

/** Returns the middle value, or the mean of the two middle values, rounded toward zero. `sorted` has at least one value. */
export function medianOf(sorted: readonly bigint[]): bigint {
  const [lower, upper] = middlesOf(sorted);
  return lower === upper ? upper : (lower + upper) / 2n;
}

/** Returns the two middle values. They are the same value if the number of values is odd. `sorted` has at least one value. */
export function middlesOf(sorted: readonly bigint[]): readonly [bigint, bigint] {
  const middle = sorted.length >> 1;
  const upper = sorted[middle]!;
  return [sorted.length % 2 === 1 ? upper : sorted[middle - 1]!, upper];
}

/**
 * Returns the outliers among the prices; `undefined` if there are none. Among three or more prices, an outlier is further from the median
 * than both `maxDeviation` and four times the median absolute deviation.
 * @param sorted the prices in ascending order
 * @param maxDeviation in percent times `PERCENT_SCALE`
 */
export function outliersOf(sorted: readonly bigint[], maxDeviation: bigint): ReadonlySet<bigint> | undefined {
  if (sorted.length < OUTLIER_PRICES_MIN) return undefined;
  const median = medianOf(sorted);
  const isFar = (price: bigint) => exceedsPercent(distanceOf(price, median), median, maxDeviation);
  if (!isFar(sorted[0]!) && !isFar(sorted.at(-1)!)) return undefined;
  const distanceMax = DEVIATIONS_MAX * medianOf(sortedOf(sorted.map((price) => distanceOf(price, median))));
  const outliers = new Set(sorted.filter((price) => distanceOf(price, median) > distanceMax && isFar(price)));
  return outliers.size === 0 ? undefined : outliers;
}

/** Returns whether `distance` is more than `percent` of the size of `price`. The result is exact. */
export function exceedsPercent(distance: bigint, price: bigint, percent: bigint): boolean {
  return distance !== 0n && distance * WHOLE > percent * sizeOf(price);
}

/** Returns whether `distance` is at least `percent` of the size of `price`; false for a distance of 0. */
export function reachesPercent(distance: bigint, price: bigint, percent: bigint): boolean {
  return distance > 0n && distance * WHOLE >= percent * sizeOf(price);
}

function sizeOf(price: bigint): bigint {
  return price < 0n ? -price : price;
}

export function distanceOf(one: bigint, other: bigint): bigint {
  return one > other ? one - other : other - one;
}
