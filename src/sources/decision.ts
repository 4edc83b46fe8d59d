import { PRICE_MAX, PRICE_SCALE, type Price } from '../model/price.js';
import type { TimeNs } from '../model/time.js';
import type { HeldQuote } from './market_quote.js';
import { distanceOf, exceedsPercent, medianOf, middlesOf, outliersOf, sortedOf } from './median.js';
import type { AssetInput, AssetPlan } from './plan.js';

/** The role of a market in a decision, or the reason why it has none. */
export type MarketVerdict =
  | 'used'
  | 'no quote'
  | 'empty'
  | 'crossed'
  | 'wide'
  | 'stale'
  | 'outlier'
  | `converted without ${string}`;

/** The reasons for a decision without a price. */
export type WithheldReason = 'too few sources' | 'sources disagree' | 'outside bounds';

/** The state of a market in a decision. */
export interface MarketReading {
  readonly input: AssetInput;
  readonly quote: HeldQuote | undefined;
  /** The price of the asset that converts the market's price, if there was one. */
  readonly rate: bigint | undefined;
  /** The market's price after conversion. */
  readonly price: bigint | undefined;
  /** The time after which the quote is stale; `undefined` without a quote. */
  readonly freshUntilNs: bigint | undefined;
  readonly verdict: MarketVerdict;
}

/** The price of an asset at an instant, or the reason for a missing price; with every market that was considered. */
export interface Decision {
  /** The readings before the outliers were removed, for {@link DecisionInputs.earlier}. */
  readonly read: readonly MarketReading[];
  readonly asset: AssetPlan;
  readonly atNs: TimeNs;
  readonly price: Price | undefined;
  readonly withheld: WithheldReason | undefined;
  readonly readings: readonly MarketReading[];
}

/** The quotes and prices that a decision may use. */
export interface DecisionInputs {
  quoteOf(input: AssetInput): HeldQuote | undefined;
  /** Returns the price of another asset at the same instant, for conversions. */
  priceOf(symbol: string): bigint | undefined;
  /** The readings of an earlier decision about the asset, in the order of its inputs. Unchanged readings are used again. */
  readonly earlier?: readonly MarketReading[] | undefined;
}

/** Decides an asset's price at `nowNs`. The order of the markets has no effect. */
export function decide(asset: AssetPlan, inputs: DecisionInputs, nowNs: TimeNs): Decision {
  const read = asset.inputs.map((input, i) => readMarket(asset, input, inputs, inputs.earlier?.[i], nowNs));
  const candidates = read.filter(({ verdict }) => verdict === 'used');
  const sorted = sortedPrices(candidates);
  const outliers = outliersOf(sorted, asset.maxDeviation);
  if (outliers === undefined)
    return { asset, atNs: nowNs, read, readings: read, ...priceOf(asset, candidates, sorted, candidates) };
  const readings = read.map((reading) =>
    reading.price !== undefined && outliers.has(reading.price)
      ? { ...reading, verdict: 'outlier' as const }
      : reading,
  );
  const used = readings.filter(({ verdict }) => verdict === 'used');
  return { asset, atNs: nowNs, read, readings, ...priceOf(asset, used, sortedPrices(used), candidates) };
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
  for (const { input, rate, freshUntilNs, verdict } of read) {
    if (freshUntilNs !== undefined && verdict !== 'stale' && isStale(freshUntilNs, nowNs)) return false;
    if (input.conversion !== undefined && priceOf(input.conversion) !== rate) return false;
  }
  return true;
}

function sortedPrices(readings: readonly MarketReading[]): bigint[] {
  return sortedOf(readings.map(({ price }) => price!));
}

function readMarket(
  asset: AssetPlan,
  input: AssetInput,
  inputs: DecisionInputs,
  earlier: MarketReading | undefined,
  nowNs: TimeNs,
): MarketReading {
  const quote = inputs.quoteOf(input);
  const conversionRate = input.conversion === undefined ? undefined : inputs.priceOf(input.conversion);
  if (
    earlier !== undefined &&
    earlier.quote === quote &&
    earlier.rate === conversionRate &&
    (quote === undefined || isStale(earlier.freshUntilNs!, nowNs) === (earlier.verdict === 'stale'))
  )
    return earlier;
  const rate = input.conversion === undefined ? PRICE_SCALE : conversionRate;
  const freshUntilNs = quote === undefined ? undefined : quote.timeNs + asset.maxAgeNs;
  const fault = quote === undefined ? 'no quote' : faultOf(quote, freshUntilNs!, asset, nowNs);
  const price = fault === undefined && rate !== undefined ? convertedPrice(quote!, rate) : undefined;
  const verdict =
    fault ??
    (rate === undefined ? (`converted without ${input.conversion}` as const) : undefined) ??
    (price === 0n || price! > PRICE_MAX ? 'empty' : 'used');
  return {
    input,
    quote,
    rate: conversionRate,
    price: verdict === 'used' ? price : undefined,
    freshUntilNs,
    verdict,
  };
}

/** Unlike a subtraction, a comparison allocates no integer. */
function isStale(freshUntilNs: bigint, nowNs: TimeNs): boolean {
  return nowNs > freshUntilNs;
}

function faultOf(quote: HeldQuote, freshUntilNs: bigint, asset: AssetPlan, nowNs: TimeNs) {
  if (isStale(freshUntilNs, nowNs)) return 'stale';
  const { bid, ask, trade } = quote;
  if (trade !== undefined) return trade === 0n ? 'empty' : undefined;
  if (bid === 0n || ask === 0n) return 'empty';
  if (bid >= ask) return 'crossed';
  return exceedsPercent((ask - bid) * 2n, ask + bid, asset.maxSpread) ? 'wide' : undefined;
}

/** Multiplies the middle of the book, or the last trade, by the rate. Divides only once, rounding toward zero. */
function convertedPrice({ bid, ask, trade }: HeldQuote, rate: bigint): bigint {
  const doubled = trade === undefined ? bid + ask : trade * 2n;
  return rate === PRICE_SCALE ? doubled / 2n : (doubled * rate) / (PRICE_SCALE * 2n);
}

/**
 * @param used the markets whose prices count
 * @param sorted their prices in ascending order
 * @param candidates the markets that counted before the outliers were removed
 */
function priceOf(
  { minSources, maxDeviation, bounds }: AssetPlan,
  used: readonly MarketReading[],
  sorted: readonly bigint[],
  candidates: readonly MarketReading[],
): Pick<Decision, 'price' | 'withheld'> {
  if (sourcesOf(used) < minSources) return { price: undefined, withheld: 'too few sources' };
  const median = medianOf(sorted);
  const [lower, upper] = middlesOf(sorted);
  if (
    // A gap splits the prices into two halves. Either half may be wrong, and the mean is near neither of them.
    exceedsPercent(upper - lower, median, maxDeviation) ||
    // Most prices are converted. A jump of the converting asset makes all of them wrong.
    isContradicted(median, used, candidates, maxDeviation)
  )
    return { price: undefined, withheld: 'sources disagree' };
  if (bounds !== undefined && (median < bounds[0] || median > bounds[1]))
    return { price: undefined, withheld: 'outside bounds' };
  return { price: median as Price, withheld: undefined };
}

/** Returns whether the unconverted markets contradict the median. */
function isContradicted(
  median: bigint,
  used: readonly MarketReading[],
  candidates: readonly MarketReading[],
  maxDeviation: bigint,
): boolean {
  // Without outliers and converted prices, only the unconverted markets remain.
  const isDirect = candidates.every(({ input }) => input.conversion === undefined);
  if (isDirect && used.length === candidates.length) return false;
  const direct = directPrice(candidates, maxDeviation);
  return direct !== undefined && exceedsPercent(distanceOf(median, direct), direct, maxDeviation);
}

/** Returns the median of the unconverted markets, if markets of at least two sources are near it. */
function directPrice(candidates: readonly MarketReading[], maxDeviation: bigint): bigint | undefined {
  const direct = candidates.filter(({ input }) => input.conversion === undefined);
  if (direct.length < DIRECT_SOURCES_MIN) return undefined;
  const median = medianOf(sortedPrices(direct));
  const near = direct.filter(
    ({ price }) => !exceedsPercent(distanceOf(price!, median), median, maxDeviation),
  );
  return sourcesOf(near) < DIRECT_SOURCES_MIN ? undefined : median;
}

/** Returns the number of different sources. */
function sourcesOf(readings: readonly MarketReading[]): number {
  // The lists are short, so this takes less time than a set.
  let count = 0;
  for (let i = 0; i < readings.length; i++) {
    const { source } = readings[i]!.input;
    if (readings.findIndex(({ input }) => input.source === source) === i) count++;
  }
  return count;
}

/** The number of sources that can contradict the others. A single source may be wrong. */
const DIRECT_SOURCES_MIN = 2;
