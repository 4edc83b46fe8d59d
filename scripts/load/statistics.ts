import assert from 'node:assert/strict';

/** Returns the middle value, or the mean of the two middle values. */
export function median(values: readonly number[]): number {
  assert(values.length > 0, 'a median of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Returns the percentile by the nearest-rank method.
 * @returns NaN without values
 */
export function percentile(values: ArrayLike<number>, percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? Number.NaN;
}

/** Returns the value with three significant digits, for a table. Returns a dash for a missing value. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 3 });
}

export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/**
 * Returns the exponent with which costs grow: the slope of the straight line through the logarithms of sizes and costs, by least squares.
 * @param sizes positive numbers, at least two of which differ
 * @param costs the positive cost of each size
 */
export function fittedExponent(sizes: readonly number[], costs: readonly number[]): number {
  const [x, y] = [sizes, costs].map((values) => values.map(Math.log)) as [number[], number[]];
  const meanX = sum(x) / x.length;
  const fromMean = x.map((one) => one - meanX);
  return sum(fromMean.map((one, i) => one * y[i]!)) / sum(fromMean.map((one) => one ** 2));
}
