import assert from 'node:assert/strict';
import { Point } from '@scure/starknet';
import fc from 'fast-check';
import { test } from 'tap';
import {
  GENERATOR,
  GROUP_ORDER,
  PlainPoint,
  PointSum,
  TabledPoint,
} from '../../../src/crypto/stark/stark_curve.js';
import { holds } from '../../holds.js';
import { cases } from '../../tier.js';

const BASE = Point.BASE.toAffine();
const tabled = [1, 2, 5, 8, 11, 12].map((windowBits) => new TabledPoint(BASE, windowBits));
const scalar = fc.oneof(
  { weight: 5, arbitrary: fc.bigInt({ min: 0n, max: GROUP_ORDER - 1n }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      0n,
      1n,
      128n,
      129n,
      2n ** 247n,
      GROUP_ORDER - 1n,
      GROUP_ORDER,
      2n ** 252n - 1n,
    ),
  },
);

/** Returns the expected sum. A scalar identifies the sum, because all points are multiples of the base point. */
function expected(multiple: bigint): { x: bigint; y: bigint } | undefined {
  const reduced = ((multiple % GROUP_ORDER) + GROUP_ORDER) % GROUP_ORDER;
  return reduced === 0n ? undefined : Point.BASE.multiplyUnsafe(reduced).toAffine();
}

test('a table that is filled before its use yields after each window', async (t) => {
  const table = new TabledPoint(BASE, 8);
  t.equal([...table.fill(3)].length, 3);
  t.equal([...table.fill()].length, 32);
  const sum = new PointSum();
  table.addMultiple(sum, GROUP_ORDER - 1n, false);
  t.same(sum.toAffine(), expected(GROUP_ORDER - 1n));
});

test('tables of any window size, the plain point and the generator add the same multiples', async (t) => {
  holds(
    t,
    fc.property(scalar, fc.boolean(), (factor, negative) => {
      for (const point of [GENERATOR, new PlainPoint(BASE), ...tabled]) {
        const sum = new PointSum();
        point.addMultiple(sum, factor, negative);
        assert.deepEqual(sum.toAffine(), expected(negative ? -factor : factor));
      }
    }),
    { numRuns: cases(40) },
  );
});

test('sums of a point with itself, its negative and nothing', async (t) => {
  const small = fc.bigInt({ min: 0n, max: 6n });
  holds(
    t,
    fc.property(fc.array(fc.tuple(small, fc.boolean()), { maxLength: 8 }), (terms) => {
      const sum = new PointSum();
      let total = 0n;
      for (const [factor, negative] of terms) {
        GENERATOR.addMultiple(sum, factor, negative);
        total += negative ? -factor : factor;
        const point = expected(total);
        assert.deepEqual(sum.toAffine(), point);
        assert.equal(sum.hasX(BASE.x), point?.x === BASE.x);
      }
    }),
  );
});
