import type { AggregationType } from '../../model/asset.js';
import type { Price } from '../../model/price.js';

/** A publisher's part in an aggregate. */
export interface WeightedPrice {
  readonly price: Price;
  /** The weight, above 0, in any unit. */
  readonly weight: bigint;
}

/**
 * Returns the aggregate of the ascending prices in `sorted[from..to)`. The result is exact, except that its single division
 * truncates toward zero.
 * @param to above `from`
 */
export function aggregatePrice(
  type: AggregationType,
  sorted: readonly WeightedPrice[],
  from: number,
  to: number,
): Price {
  switch (type) {
    case 'median':
      return medianPrice(sorted, from, to);
    case 'average':
      return averagePrice(sorted, from, to);
    case 'weighted average':
      return weightedAveragePrice(sorted, from, to);
  }
}

export function medianPrice(sorted: readonly WeightedPrice[], from: number, to: number): Price {
  const middle = (from + to) >> 1;
  const upper = sorted[middle]!.price;
  return (to - from) % 2 === 1 ? upper : (((sorted[middle - 1]!.price + upper) / 2n) as Price);
}

function averagePrice(sorted: readonly WeightedPrice[], from: number, to: number): Price {
  let sum = 0n;
  for (let i = from; i < to; i++) sum += sorted[i]!.price;
  return (sum / BigInt(to - from)) as Price;
}

function weightedAveragePrice(sorted: readonly WeightedPrice[], from: number, to: number): Price {
  let sum = 0n;
  let weight = 0n;
  for (let i = from; i < to; i++) {
    const input = sorted[i]!;
    sum += input.price * input.weight;
    weight += input.weight;
  }
  return (sum / weight) as Price;
}
