import assert from 'node:assert/strict';
import { Point } from '@scure/starknet';
import fc from 'fast-check';
import { test } from 'tap';
import { GENERATOR, GROUP_ORDER, PointSum } from '../../../src/crypto/stark/stark_curve.js';
import { holds } from '../../holds.js';

const BASE = Point.BASE.toAffine();

/** Returns the expected sum. A scalar identifies the sum, because all points are multiples of the base point. */
function expected(multiple: bigint): { x: bigint; y: bigint } | undefined {
  const reduced = ((multiple % GROUP_ORDER) + GROUP_ORDER) % GROUP_ORDER;
  return reduced === 0n ? undefined : Point.BASE.multiplyUnsafe(reduced).toAffine();
}

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
