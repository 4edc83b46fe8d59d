import { test } from 'tap';
import { differenceText, publisherPlaces } from '../../../src/client/page/publisher_places.js';

const UNIT = 10n ** 18n;

function places(price: bigint, ...prices: readonly bigint[]) {
  return placesIn(400, price, ...prices);
}

function placesIn(widthPx: number, price: bigint, ...prices: readonly bigint[]) {
  const publishers = prices.map((theirs, i) => ({
    key: `0x${i}`,
    signatureType: 'evm' as const,
    price: theirs,
    timestampNs: BigInt(i),
  }));
  return publisherPlaces({ price, publishers }, widthPx);
}

test('dots stand around the aggregate by their exact differences', async (t) => {
  const found = places(100n * UNIT, 101n * UNIT, 100n * UNIT, 98n * UNIT);
  t.same(
    found.map(({ key, percent, difference }) => [key, percent, difference]),
    [
      ['0x2', 6, '−2.0000%'],
      ['0x1', 50, '0.0000%'],
      ['0x0', 72, '+1.0000%'],
    ],
  );
  t.equal(found[0]!.timestampNs, 2n);
  // A difference in the last digit would not survive a double.
  const [low, high] = places(10n ** 30n, 10n ** 30n - 1n, 10n ** 30n + 10n ** 26n);
  t.same([low!.percent, low!.difference, high!.percent, high!.difference], [50, '0.0000%', 94, '+0.0100%']);
});

test('equal prices stand in the middle, and a tiny difference is not drawn as a large one', async (t) => {
  t.same(
    places(100n * UNIT, 100n * UNIT, 100n * UNIT).map(({ percent }) => percent),
    [50, 50],
  );
  const [small] = places(100n * UNIT, 100n * UNIT + UNIT / 1_000n);
  t.same([small!.percent, small!.difference], [54.4, '+0.0010%']);
  t.same(
    places(0n, 0n, 1n).map(({ percent, difference }) => [percent, difference]),
    [
      [50, ''],
      [94, ''],
    ],
    'a price of 0',
  );
  t.same(places(-100n * UNIT, -101n * UNIT)[0]!.difference, '−1.0000%', 'a price below 0');
});

test('labels in one place stand on separate lines, and one without room is left out', async (t) => {
  const found = places(100n, 100n, 100n, 100n, 100n, 200n);
  t.same(
    found.map(({ line }) => line),
    [0, 1, undefined, undefined, 0],
  );
});

test('a wide strip has room for more labels on a line', async (t) => {
  const lines = (widthPx: number) =>
    placesIn(widthPx, 1_000n, 1_000n, 1_010n, 1_100n).map(({ line }) => line);
  t.same(lines(400), [0, 1, 0]);
  t.same(lines(1_600), [0, 0, 0]);
});

test('a difference has four decimals', async (t) => {
  t.equal(differenceText(12_345n, 10_000_000n), '+0.1234%');
  t.equal(differenceText(-5n, 10n), '−50.0000%');
  t.equal(differenceText(1n, 0n), '');
});
