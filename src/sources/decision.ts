import type { Price } from '../model/price.js';
import type { TimeNs } from '../model/time.js';
import {
  type DecisionInputs,
  isSameReading,
  type MarketReading,
  readMarket,
  withUnproven,
} from './market_reading.js';
import { distanceOf, exceedsPercent, medianOf, middlesOf, outliersOf } from './median.js';
import type { AssetPlan } from './plan.js';
import { directPrice, sortedPrices, votesOf } from './votes.js';

/** The reasons for a decision without a price. */
export type WithheldReason = 'too few sources' | 'sources disagree' | 'outside bounds';

/** The price of an asset at an instant, or the reason for a missing price; with every market that was considered. */
export interface Decision {
  /** The readings of each market by itself, for {@link DecisionInputs.earlier}. */
  readonly read: readonly MarketReading[];
  readonly asset: AssetPlan;
  readonly atNs: TimeNs;
  readonly price: Price | undefined;
  readonly withheld: WithheldReason | undefined;
  readonly readings: readonly MarketReading[];
}

/**
 * Decides an asset's price at `nowNs`: the median of its order books, each with the median of its own markets. The order of the markets has
 * no effect.
 */
export function decide(asset: AssetPlan, inputs: DecisionInputs, nowNs: TimeNs): Decision {
  const read = asset.inputs.map((input, i) => readMarket(asset, input, inputs, inputs.earlier?.[i], nowNs));
  const candidates = withUnproven(read, nowNs);
  const votes = votesOf(candidates);
  const sorted = sortedPrices(votes);
  const outliers = outliersOf(sorted, asset.maxDeviation);
  if (outliers === undefined)
    return { asset, atNs: nowNs, read, readings: candidates, ...priceOf(asset, sorted, candidates, false) };
  const far = new Set(votes.filter(({ price }) => outliers.has(price)).map(({ engine }) => engine));
  const readings = candidates.map((reading) =>
    reading.verdict === 'used' && far.has(reading.input.engine)
      ? { ...reading, verdict: 'outlier' as const }
      : reading,
  );
  const near = sorted.filter((price) => !outliers.has(price));
  return { asset, atNs: nowNs, read, readings, ...priceOf(asset, near, candidates, true) };
}

/**
 * Returns whether the asset's decision at `nowNs` has the same price and readings as an earlier one, provided that no market has had another
 * quote since.
 */
export function isSameDecision(
  { atNs, read }: Decision,
  priceOf: DecisionInputs['priceOf'],
  nowNs: TimeNs,
): boolean {
  if (nowNs < atNs) return false;
  for (const reading of read) {
    if (!isSameReading(reading, nowNs)) return false;
    const { conversion } = reading.input;
    if (conversion !== undefined && priceOf(conversion) !== reading.rate) return false;
  }
  return true;
}

/**
 * @param sorted the votes that count, in ascending order
 * @param candidates the markets that counted before the outliers were removed
 */
function priceOf(
  { minSources, maxDeviation, bounds }: AssetPlan,
  sorted: readonly bigint[],
  candidates: readonly MarketReading[],
  hasOutliers: boolean,
): Pick<Decision, 'price' | 'withheld'> {
  if (sorted.length < minSources) return { price: undefined, withheld: 'too few sources' };
  const median = medianOf(sorted);
  const [lower, upper] = middlesOf(sorted);
  if (
    // A gap splits the prices into two halves. Either half may be wrong, and the mean is near neither of them.
    exceedsPercent(upper - lower, median, maxDeviation) ||
    // Most prices are converted. A jump of the converting asset makes all of them wrong.
    isContradicted(median, candidates, maxDeviation, hasOutliers)
  )
    return { price: undefined, withheld: 'sources disagree' };
  if (bounds !== undefined && (median < bounds[0] || median > bounds[1]))
    return { price: undefined, withheld: 'outside bounds' };
  return { price: median as Price, withheld: undefined };
}

/** Returns whether the unconverted markets contradict the median. */
function isContradicted(
  median: bigint,
  candidates: readonly MarketReading[],
  maxDeviation: bigint,
  hasOutliers: boolean,
): boolean {
  // Without outliers and converted prices, only the unconverted markets remain.
  const isDirect = candidates.every(({ input }) => input.conversion === undefined);
  if (isDirect && !hasOutliers) return false;
  const direct = directPrice(candidates, maxDeviation);
  return direct !== undefined && exceedsPercent(distanceOf(median, direct), direct, maxDeviation);
}
