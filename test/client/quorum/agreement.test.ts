import fc from 'fast-check';
import { test } from 'tap';
import {
  type AgreementRules,
  agreeing,
  medianPrice,
  type TimedPrice,
} from '../../../src/client/quorum/agreement.js';

const ONE_PERCENT = 10n ** 18n;
const rules: AgreementRules = { threshold: 2, maxSpread: ONE_PERCENT, maxAgeNs: 10n };
const at = (price: number, timestampNs = 0): TimedPrice => ({
  price: BigInt(Math.round(price * 100)),
  timestampNs: BigInt(timestampNs),
});
const pricesOf = (group: readonly TimedPrice[] | string) =>
  typeof group === 'string' ? group : group.map(({ price }) => Number(price) / 100);

test('the largest group of prices counts, and nothing when a second group could count too', async (t) => {
  const cases: readonly [string, readonly TimedPrice[], readonly number[] | string][] = [
    ['all agree', [at(100), at(100.2), at(99.9)], [100, 100.2, 99.9]],
    ['one lies by 5 %', [at(100), at(105), at(100.1)], [100, 100.1]],
    ['exactly at the spread', [at(100), at(101)], [100, 101]],
    ['just above the spread', [at(100), at(101.01)], 'spread'],
    ['a liar that is nearer to one than the other is', [at(100), at(100.8), at(101.2)], [100.8, 101.2]],
    ['two pairs', [at(100), at(100), at(105), at(105)], 'split'],
    ['times apart', [at(100, 0), at(100, 11), at(100, 12)], [100, 100]],
    ['negative prices', [at(-100), at(-101), at(-110)], [-100, -101]],
    ['signs', [at(-0.01), at(0.01)], 'spread'],
  ];
  for (const [name, prices, expected] of cases) t.same(pricesOf(agreeing(prices, rules)), expected, name);
});

/** Selects a group by brute force over all sets of prices. */
function slowly(prices: readonly TimedPrice[], { threshold, maxSpread, maxAgeNs }: AgreementRules) {
  if (prices.length < threshold) return 'few';
  const sets = Array.from({ length: 2 ** prices.length }, (_, bits) =>
    prices.filter((_, i) => (bits >> i) % 2 === 1),
  );
  const size = (value: bigint) => (value < 0n ? -value : value);
  const fits = (one: TimedPrice, other: TimedPrice) => {
    const smaller = size(one.price) < size(other.price) ? size(one.price) : size(other.price);
    const isNear = size(one.price - other.price) * 100n * 10n ** 18n <= maxSpread * smaller;
    return isNear && size(one.timestampNs - other.timestampNs) <= maxAgeNs;
  };
  const groups = sets.filter(
    (set) => set.length >= threshold && set.every((one) => set.every((other) => fits(one, other))),
  );
  if (groups.length === 0) return 'spread';
  const largest = Math.max(...groups.map(({ length }) => length));
  const least = (values: readonly bigint[]) => values.reduce((one, other) => (one < other ? one : other));
  const spreadOf = (set: readonly TimedPrice[]) =>
    -least(set.map(({ price }) => -price)) - least(set.map(({ price }) => price));
  const best = groups.filter(({ length }) => length === largest);
  const spread = least(best.map(spreadOf));
  const tightest = best.filter((set) => spreadOf(set) === spread);
  const age = least(tightest.map((set) => -least(set.map(({ timestampNs }) => timestampNs))));
  const newest = tightest.filter((set) => -least(set.map(({ timestampNs }) => timestampNs)) === age);
  const lowest = least(newest.map((set) => least(set.map(({ price }) => price))));
  const chosen = newest.filter((set) => least(set.map(({ price }) => price)) === lowest);
  const isRival = (set: readonly TimedPrice[]) =>
    groups.some((other) => other.every((price) => !set.includes(price)));
  return chosen.some((set) => !isRival(set)) ? chosen : 'split';
}

const timedPrice = fc.record({
  price: fc.oneof(fc.bigInt({ min: 9_900n, max: 10_300n }), fc.bigInt({ min: -120n, max: 120n })),
  timestampNs: fc.bigInt({ min: 0n, max: 14n }),
});
const anyRules = fc.record({
  threshold: fc.integer({ min: 2, max: 4 }),
  maxSpread: fc.constantFrom(0n, ONE_PERCENT, 100n * ONE_PERCENT),
  maxAgeNs: fc.constantFrom(0n, 5n, 100n),
});

test('the choice is that of a slow search through all sets', async () => {
  const property = fc.property(fc.array(timedPrice, { maxLength: 7 }), anyRules, (prices, rules) => {
    const found = agreeing(prices, rules);
    const expected = slowly(prices, rules);
    if (typeof found === 'string' || typeof expected === 'string') return found === expected;
    return expected.some((set) => set.length === found.length && set.every((one) => found.includes(one)));
  });
  fc.assert(property, { numRuns: 1_000 });
});

test('fewer liars than the threshold move the median by at most the spread, and not at all among more honest prices', async () => {
  const scenario = fc.record({
    honest: fc.array(fc.bigInt({ min: 100_000n, max: 100_900n }), { minLength: 1, maxLength: 5 }),
    liars: fc.array(fc.bigInt({ min: 90_000n, max: 110_000n }), { maxLength: 3 }),
  });
  const property = fc.property(scenario, ({ honest, liars }) => {
    const prices = [...honest, ...liars].map((price) => ({ price, timestampNs: 0n }));
    const found = agreeing(prices, { ...rules, threshold: liars.length + 1 });
    if (typeof found === 'string') return true;
    const sorted = [...honest].sort((one, other) => Number(one - other));
    const [low, high] = [sorted[0]!, sorted.at(-1)!];
    const median = medianPrice(found);
    const honestOnes = found.filter((one) => prices.indexOf(one) < honest.length).length;
    if (honestOnes * 2 > found.length) return median >= low && median <= high;
    return median * 100n >= low * 99n && median * 100n <= high * 101n;
  });
  fc.assert(property, { numRuns: 1_000 });
});
