import type { MarketReading } from './market_reading.js';
import { distanceOf, exceedsPercent, medianOf, sortedOf } from './median.js';

/** The value of an order book in a decision: the median of its markets that count. */
export interface Vote {
  readonly engine: string;
  readonly price: bigint;
}

/** Returns the votes of the readings that are used, one for each order book. */
export function votesOf(readings: readonly MarketReading[]): Vote[] {
  // The lists are short, so this takes less time than a map.
  const votes: Vote[] = [];
  for (let i = 0; i < readings.length; i++) {
    const { input, price, verdict } = readings[i]!;
    if (verdict !== 'used' || votes.some(({ engine }) => engine === input.engine)) continue;
    const own = [price!];
    for (let j = i + 1; j < readings.length; j++) {
      const other = readings[j]!;
      if (other.verdict === 'used' && other.input.engine === input.engine) own.push(other.price!);
    }
    votes.push({ engine: input.engine, price: own.length === 1 ? own[0]! : medianOf(sortedOf(own)) });
  }
  return votes;
}

export function sortedPrices(votes: readonly Vote[]): bigint[] {
  return sortedOf(votes.map(({ price }) => price));
}

/** Returns the median of the votes of unconverted markets, if at least two of these votes are near it. */
export function directPrice(readings: readonly MarketReading[], maxDeviation: bigint): bigint | undefined {
  const direct = votesOf(readings.filter(({ input }) => input.conversion === undefined));
  if (direct.length < DIRECT_VOTES_MIN) return undefined;
  const median = medianOf(sortedPrices(direct));
  const near = direct.filter(({ price }) => !exceedsPercent(distanceOf(price, median), median, maxDeviation));
  return near.length < DIRECT_VOTES_MIN ? undefined : median;
}

/** The number of votes that can contradict the others. A single source may be wrong. */
const DIRECT_VOTES_MIN = 2;

/** Says how many sources and order books count, such as `3 of 5 sources, 2 order books`. */
export function countsText(readings: readonly MarketReading[]): string {
  const used = readings.filter(({ verdict }) => verdict === 'used');
  const sources = (list: readonly MarketReading[]) => new Set(list.map(({ input }) => input.source)).size;
  const books = new Set(used.map(({ input }) => input.engine)).size;
  const named = sources(readings);
  return `${sources(used)} of ${named} source${named === 1 ? '' : 's'}, ${books} order book${books === 1 ? '' : 's'}`;
}
