import { test } from 'tap';
import { PRICE_MAX, PRICE_MIN } from '../../src/model/price.js';
import { type AggregationType, ALGORITHMS } from '../../src/wire/algorithms.js';

function aggregate(type: AggregationType, ...inputs: readonly (readonly [bigint, bigint])[]): bigint {
  const sorted = inputs
    .map(([price, weight]) => ({ price, weight }))
    .sort((a, b) => (a.price < b.price ? -1 : a.price > b.price ? 1 : 0));
  return ALGORITHMS[type].compute(sorted, 0, sorted.length);
}
const plain = (type: AggregationType, prices: readonly bigint[]) =>
  aggregate(type, ...prices.map((price) => [price, 1n] as const));

test('known values, with every division toward zero', async (t) => {
  t.equal(plain('median', [5n]), 5n);
  t.equal(plain('median', [9n, 1n, 5n]), 5n);
  t.equal(plain('median', [1n, 2n]), 1n);
  t.equal(plain('median', [-1n, -2n]), -1n);
  t.equal(plain('median', [PRICE_MAX, PRICE_MAX]), PRICE_MAX);
  t.equal(plain('median', [PRICE_MIN, PRICE_MAX]), 0n);
  t.equal(plain('average', [1n, 2n, 2n]), 1n);
  t.equal(plain('average', [-1n, -2n, -2n]), -1n);
  t.equal(plain('average', [PRICE_MAX, PRICE_MAX, PRICE_MAX]), PRICE_MAX);
  t.equal(plain('trimmed mean', [1n, 2n, 9n]), 4n, 'three inputs: none is dropped');
  t.equal(plain('trimmed mean', [-900n, 4n, 7n, 900n]), 5n, 'of four the first and the last');
  t.equal(plain('trimmed mean', [-900n, -4n, -7n, 900n]), -5n, 'toward zero');
  t.equal(plain('trimmed mean', [900n, 1n, 2n, 6n, -900n, 3n, 8n]), 4n, 'of seven still one at each end');
  t.equal(plain('trimmed mean', [900n, 901n, 2n, 3n, 4n, 7n, -900n, -901n]), 4n, 'of eight two');
  t.equal(aggregate('weighted average', [10n, 3n], [20n, 1n]), 12n);
  t.equal(aggregate('weighted average', [-10n, 3n], [-21n, 1n]), -12n);
});
