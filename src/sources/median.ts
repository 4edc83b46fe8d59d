import { PERCENT_SCALE } from '../model/asset.js';

const WHOLE = 100n * BigInt(PERCENT_SCALE);

/** The number of median absolute deviations from the median beyond which a price is an outlier. */
const DEVIATIONS_MAX = 4n;
/** The smallest number of prices that can show which price is wrong. */
const OUTLIER_PRICES_MIN = 3;

/** Returns the middle value, or the mean of the two middle values, rounded toward zero. `values` has at least one value. */
export function medianOf(values: readonly bigint[]): bigint {
  const [lower, upper] = middlesOf(values);
  return lower === upper ? upper : (lower + upper) / 2n;
}

/** Returns the two middle values. They are the same value if the number of values is odd. `values` has at least one value. */
export function middlesOf(values: readonly bigint[]): readonly [bigint, bigint] {
  const sorted = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const middle = sorted.length >> 1;
  const upper = sorted[middle]!;
  return [sorted.length % 2 === 1 ? upper : sorted[middle - 1]!, upper];
}

/**
 * Tells for each price whether it is an outlier. Among three or more prices, an outlier is further from the median than both `maxDeviation` and four
 * times the median absolute deviation.
 * @param maxDeviation in percent times `PERCENT_SCALE`
 */
export function outliersOf(prices: readonly bigint[], maxDeviation: bigint): boolean[] {
  if (prices.length < OUTLIER_PRICES_MIN) return prices.map(() => false);
  const median = medianOf(prices);
  const distances = prices.map((price) => distanceOf(price, median));
  const distanceMax = DEVIATIONS_MAX * medianOf(distances);
  return distances.map(
    (distance) => distance > distanceMax && exceedsPercent(distance, median, maxDeviation),
  );
}

/** Tells whether `distance` is more than `percent` of `price`, exactly. */
export function exceedsPercent(distance: bigint, price: bigint, percent: bigint): boolean {
  return distance * WHOLE > percent * price;
}

/** Tells whether `distance` is at least `percent` of `price`; false for a distance of 0. */
export function reachesPercent(distance: bigint, price: bigint, percent: bigint): boolean {
  return distance > 0n && distance * WHOLE >= percent * price;
}

export function distanceOf(one: bigint, other: bigint): bigint {
  return one > other ? one - other : other - one;
}
