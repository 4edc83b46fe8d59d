/** The price of one publisher, as part of an aggregate. */
export interface WeightedPrice {
  /** The price times 10^18. */
  readonly price: bigint;
  /** The weight, above 0, in any unit. */
  readonly weight: bigint;
}

/** A way in which an aggregate is computed: `calculation_alg.type`. */
export interface Algorithm {
  /** True if the result depends on the weights of the publishers, which only the service's configuration names. */
  readonly isWeighted: boolean;
  /**
   * Returns the aggregate of the ascending prices in `sorted[from..to)`; `to` is above `from`. The result is exact, except that its single
   * division truncates toward zero.
   */
  readonly compute: (sorted: readonly WeightedPrice[], from: number, to: number) => bigint;
}

/**
 * All algorithms, by name. The service, the client, the configuration and the documents read this table. A new algorithm is a new entry here
 * and a definition in `crypto/algorithm_definition.ts`.
 */
export const ALGORITHMS = {
  median: { isWeighted: false, compute: medianPrice },
  average: { isWeighted: false, compute: averagePrice },
  'weighted average': { isWeighted: true, compute: weightedAveragePrice },
  'trimmed mean': { isWeighted: false, compute: trimmedMeanPrice },
} as const satisfies Readonly<Record<string, Algorithm>>;

export type AggregationType = keyof typeof ALGORITHMS;

/** The names of the algorithms, in the order in which they are documented. */
export const AGGREGATION_TYPES = Object.keys(ALGORITHMS) as [AggregationType, ...AggregationType[]];

export function medianPrice(sorted: readonly WeightedPrice[], from: number, to: number): bigint {
  const middle = (from + to) >> 1;
  const upper = sorted[middle]!.price;
  return (to - from) % 2 === 1 ? upper : (sorted[middle - 1]!.price + upper) / 2n;
}

function averagePrice(sorted: readonly WeightedPrice[], from: number, to: number): bigint {
  let sum = 0n;
  for (let i = from; i < to; i++) sum += sorted[i]!.price;
  return sum / BigInt(to - from);
}

/** Computes the average without the lowest and the highest quarter of the prices, each rounded down to a number of prices. */
function trimmedMeanPrice(sorted: readonly WeightedPrice[], from: number, to: number): bigint {
  const dropped = (to - from) >> 2;
  return averagePrice(sorted, from + dropped, to - dropped);
}

function weightedAveragePrice(sorted: readonly WeightedPrice[], from: number, to: number): bigint {
  let sum = 0n;
  let weight = 0n;
  for (let i = from; i < to; i++) {
    const input = sorted[i]!;
    sum += input.price * input.weight;
    weight += input.weight;
  }
  return sum / weight;
}
