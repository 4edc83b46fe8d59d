import { test } from 'tap';
import type { Price } from '../../../src/model/price.js';
import { inputQuality } from '../../../src/prices/books/input_quality.js';

const at = (price: bigint, timestampNs = 0n) => ({ price: price as Price, weight: 1n, timestampNs });
const spreadOf = (...prices: bigint[]) =>
  inputQuality(
    prices.map((price) => at(price)),
    0,
    prices.length,
  ).spreadPpm;

test('only the inputs that count are part of the quality', async (t) => {
  const inputs = [at(1n, 99n), at(100n, 5n), at(101n, 7n), at(103n, 6n), at(900n, 99n)];
  t.same(inputQuality(inputs, 1, 4), { newestNs: 7n, publishers: 3, spreadPpm: 29_702 });
});

test('the spread is in millionths of the median without its sign, truncated, and bounded', async (t) => {
  t.equal(spreadOf(7n), 0);
  t.equal(spreadOf(0n, 0n), 0);
  t.equal(spreadOf(999_999n, 1_000_000n, 1_000_001n), 2);
  t.equal(spreadOf(2n, 3n, 3n), 333_333);
  t.equal(spreadOf(-3n, -3n, -2n), 333_333);
  t.equal(spreadOf(-10n, 1n), 2_750_000, 'the median -4.5 is truncated to -4');
  t.equal(spreadOf(-1n, 1n), 0xffff_ffff, 'a median of 0');
  t.equal(spreadOf(-(2n ** 126n), 1n, 2n ** 126n), 0xffff_ffff);
  t.equal(spreadOf(1_000_000n, 1_000_000n, 4_295_967_295n), 4_294_967_295);
  t.equal(spreadOf(1_000_000n, 1_000_000n, 4_295_967_296n), 4_294_967_295);
});
