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
  fc.assert(fc.property(anyPrice, (price) => isNearest(price, toDouble(price))));
});

test('toDouble keeps the order of prices', async () => {
  fc.assert(
    fc.property(anyPrice, fc.bigInt({ min: 0n, max: 10n ** 12n }), (price, step) => {
      return toDouble(price) <= toDouble((price + step) as Price);
    }),
  );
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

/**
 * Returns whether a double is the nearest to a price. Compares the exact differences of the double and its two neighbours from
 * the price, in units of 2^-1074 / 10^18.
 */
function isNearest(price: Price, double: number): boolean {
  const distance = (candidate: number) => abs((price << 1074n) - exactly(candidate) * 10n ** 18n);
  const here = distance(double);
  const [below, above] = neighbours(double);
  if (here > distance(below) || here > distance(above)) return false;
  const isTie = here === distance(below) || here === distance(above);
  return !isTie || (bitsOf(double) & 1n) === 0n;
}

/** Returns a finite double as an integer multiple of 2^-1074. */
function exactly(double: number): bigint {
  const bits = bitsOf(Math.abs(double));
  const exponent = bits >> 52n;
  const mantissa = bits & (2n ** 52n - 1n);
  const value = exponent === 0n ? mantissa : (mantissa | (1n << 52n)) << (exponent - 1n);
  return double < 0 ? -value : value;
}

function neighbours(double: number): [number, number] {
  if (double === 0) return [-Number.MIN_VALUE, Number.MIN_VALUE];
  const bits = bitsOf(double);
  return [ofBits(bits - 1n), ofBits(bits + 1n)];
}

function bitsOf(double: number): bigint {
  return new BigUint64Array(new Float64Array([double]).buffer)[0]!;
}

function ofBits(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0]!;
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
