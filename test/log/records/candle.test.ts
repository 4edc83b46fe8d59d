import fc from 'fast-check';
import { test } from 'tap';
import { decodeCandles, encodeCandles, toDouble } from '../../../src/log/records/candle.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../../src/model/price.js';

const anyPrice = fc.oneof(
  fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }),
  fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
  fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }),
) as fc.Arbitrary<Price>;

test('toDouble is the double nearest to price / 10^18, ties to even', async (t) => {
  t.equal(toDouble(0n as Price), 0);
  t.equal(toDouble((10n ** 17n) as Price), 0.1);
  t.equal(toDouble((-3n * 10n ** 17n) as Price), -0.3);
  t.equal(toDouble(1n as Price), 1e-18);
  t.equal(toDouble(PRICE_MIN), -(2 ** 127 / 1e18));
  // 2^53 + 1 is exactly between two doubles. The even double is 2^53.
  t.equal(toDouble(((2n ** 53n + 1n) * 10n ** 18n) as Price), 2 ** 53);
  t.equal(toDouble(((2n ** 53n + 1n) * 10n ** 18n + 1n) as Price), 2 ** 53 + 2);
  fc.assert(fc.property(anyPrice, (price) => toDouble(price) === Number(`${price}e-18`)));
});

test('candles for another node read back, and other bytes are refused', (t) => {
  const candles = Array.from({ length: 200 }, (_, i) => {
    return { number: 1_440 * 20_000 + i * 7, open: i + 0.1, high: i + 0.9, low: i - 0.5, close: -i };
  });
  const first = candles[0]!.number;
  const bytes = encodeCandles(candles, first);
  t.same(decodeCandles(bytes, first, 1_440), candles);
  t.same(decodeCandles(encodeCandles([], first), first, 60), []);
  t.throws(() => decodeCandles(bytes, first, 1_000), RangeError, 'a place behind the end');
  t.throws(() => decodeCandles(bytes.subarray(0, 100), first, 1_440), RangeError, 'a part of a candle');
  const twice = Buffer.concat([bytes.subarray(0, 34), bytes]);
  t.throws(() => decodeCandles(twice, first, 1_440), RangeError, 'the same place again');
  t.end();
});
