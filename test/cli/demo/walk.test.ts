import fc from 'fast-check';
import { test } from 'tap';
import { createWalk } from '../../../src/cli/demo/walk.js';

const OPTIONS = { anchor: 95_000n * 10n ** 18n, tick: 10n ** 16n, stepPpm: 150n };

function quotes(seed: number, count: number): bigint[] {
  const walk = createWalk({ ...OPTIONS, seed });
  return Array.from({ length: count }, () => {
    walk.step();
    return walk.quote();
  });
}

test('a seed fixes the walk', async (t) => {
  t.same(quotes(1, 100), quotes(1, 100));
  t.notSame(quotes(1, 100), quotes(2, 100));
});

test('quotes move in small steps on the tick grid and stay near the anchor', async (t) => {
  const { anchor, tick, stepPpm } = OPTIONS;
  // The series covers two days of steps. The bound allows for one step, the noise of two quotes, and rounding.
  const series = quotes(7, 200_000);
  const stepMax = (anchor * stepPpm * 3n) / 1_000_000n;
  const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);
  const isSmall = series.every((price, i) => i === 0 || distance(price, series[i - 1]!) <= stepMax);
  t.ok(isSmall, 'no jumps');
  t.ok(series.every((price) => price % tick === 0n));
  t.ok(
    series.every((price) => distance(price, anchor) < anchor / 20n),
    'within 5 % of the anchor',
  );
  t.ok(new Set(series).size > 1_000, 'it does move');
});

test('a quote is above 0 however small the price is', async () => {
  const seed = fc.nat();
  const anchor = fc.bigInt({ min: 1n, max: 100n });
  fc.assert(
    fc.property(seed, anchor, (seed, anchor) => {
      const walk = createWalk({ anchor, tick: 10n, stepPpm: 900_000n, seed });
      for (let i = 0; i < 50; i += 1) walk.step();
      return walk.quote() > 0n;
    }),
  );
});
