/** The rules by which prices of several operators agree. */
export interface AgreementRules {
  /** The number of operators that must agree. */
  readonly threshold: number;
  /** The largest difference between two prices, in percent of the price closer to zero, times 10^18. */
  readonly maxSpread: bigint;
  /** The largest difference between the times of two prices. */
  readonly maxAgeNs: bigint;
}

/** A price, and the time at which it was made. */
export interface TimedPrice {
  readonly price: bigint;
  readonly timestampNs: bigint;
}

/**
 * The reason why prices do not agree. `few`: there are fewer prices than the threshold. `spread`: no group reaches the threshold.
 * `split`: two groups without a common member reach the threshold.
 */
export type Disagreement = 'few' | 'spread' | 'split';

/** 100 times 10^18. The value is a literal, because a bundler can then remove an unused constant. */
const PERCENT_SCALE = 100_000_000_000_000_000_000n;

/**
 * Selects the prices that agree. A group is a set of prices of which any two are within the rules' spread and age of each other. The
 * largest group counts if it reaches the threshold. Among several largest groups, the group with the smallest spread counts. A
 * dishonest price that agrees with only one of two honest prices then moves the median by less than the difference between the honest
 * prices. Further ties go to the newer group, and then to the group with lower prices.
 *
 * If the prices outside this group contain a second group that reaches the threshold, no price counts, because nobody can tell which
 * group is right.
 */
export function agreeing<P extends TimedPrice>(
  prices: readonly P[],
  rules: AgreementRules,
): readonly P[] | Disagreement {
  if (prices.length < rules.threshold) return 'few';
  const group = bestGroup(prices, rules);
  if (group.length < rules.threshold) return 'spread';
  const others = prices.filter((price) => !group.includes(price));
  return bestGroup(others, rules).length < rules.threshold ? group : 'split';
}

/**
 * Returns the median price. For an even number of prices, the median is the mean of the two middle prices, rounded toward zero, as in
 * aggregates.
 */
export function medianPrice(prices: readonly TimedPrice[]): bigint {
  const sorted = prices.map(({ price }) => price).sort(compareAscending);
  const upper = sorted[sorted.length >> 1]!;
  return sorted.length % 2 === 1 ? upper : (sorted[(sorted.length >> 1) - 1]! + upper) / 2n;
}

/**
 * Returns the median time; for an even number of times, the older of the two middle times. A single operator therefore cannot change
 * the apparent age of a price.
 */
export function medianTimeNs(prices: readonly TimedPrice[]): bigint {
  const sorted = prices.map(({ timestampNs }) => timestampNs).sort(compareAscending);
  return sorted[(sorted.length - 1) >> 1]!;
}

/**
 * Returns whether two prices are within the spread. The result is false for two prices with different signs, because the spread
 * is at most 100 %.
 */
export function isNear(one: bigint, other: bigint, maxSpread: bigint): boolean {
  const difference = absolute(one - other);
  const [first, second] = [absolute(one), absolute(other)];
  return difference * PERCENT_SCALE <= maxSpread * (first < second ? first : second);
}

/** Finds the best group. Each group has a lowest price and an oldest time, so the function tries all pairs of a price and a time. */
function bestGroup<P extends TimedPrice>(prices: readonly P[], rules: AgreementRules): readonly P[] {
  let best: AgreeingGroup<P> | undefined;
  for (const { price: lowest } of prices) {
    const near = prices.filter(({ price }) => price >= lowest && isNear(lowest, price, rules.maxSpread));
    for (const { timestampNs: oldestNs } of near) {
      const group = groupOf(
        near.filter(({ timestampNs }) => timestampNs >= oldestNs && timestampNs - oldestNs <= rules.maxAgeNs),
      );
      if (best === undefined || isBetter(group, best)) best = group;
    }
  }
  return best?.members ?? [];
}

interface AgreeingGroup<P> {
  readonly members: readonly P[];
  readonly lowest: bigint;
  readonly spread: bigint;
  readonly oldestNs: bigint;
}

function groupOf<P extends TimedPrice>(members: readonly P[]): AgreeingGroup<P> {
  const prices = members.map(({ price }) => price).sort(compareAscending);
  const [oldestNs] = members.map(({ timestampNs }) => timestampNs).sort(compareAscending);
  return { members, lowest: prices[0]!, spread: prices.at(-1)! - prices[0]!, oldestNs: oldestNs! };
}

function isBetter<P>(group: AgreeingGroup<P>, than: AgreeingGroup<P>): boolean {
  if (group.members.length !== than.members.length) return group.members.length > than.members.length;
  if (group.spread !== than.spread) return group.spread < than.spread;
  if (group.oldestNs !== than.oldestNs) return group.oldestNs > than.oldestNs;
  return group.lowest < than.lowest;
}

export function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function compareAscending(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
