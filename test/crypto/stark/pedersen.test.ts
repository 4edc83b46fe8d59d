import assert from 'node:assert/strict';
import { pedersen } from '@scure/starknet';
import fc from 'fast-check';
import { test } from 'tap';
import { Pedersen } from '../../../src/crypto/stark/pedersen.js';
import { FIELD_PRIME } from '../../../src/crypto/stark/stark_curve.js';
import { holds } from '../../holds.js';
import { cases } from '../../tier.js';

const edge = fc.constantFrom(
  ...[0n, 1n, 2n ** 11n, 2n ** 12n - 1n, 2n ** 247n, 2n ** 248n - 1n],
  ...[2n ** 248n, 7n << 248n, 2n ** 251n - 1n, 2n ** 251n, FIELD_PRIME - 1n],
);
const operand = fc.oneof(
  { weight: 5, arbitrary: fc.bigInt({ min: 0n, max: FIELD_PRIME - 1n }) },
  { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 115n }) },
  { weight: 2, arbitrary: edge },
);

test('agrees with the plain sum of 504 points for any operands', async (t) => {
  const hasher = new Pedersen();
  holds(
    t,
    fc.property(operand, operand, (x, y) => {
      const expected = BigInt(pedersen(x, y));
      assert.equal(hasher.hash(x, y), expected, `${x} ${y}`);
      assert.ok(hasher.isHash(x, y, expected));
      assert.ok(!hasher.isHash(x, y, (expected + 1n) % FIELD_PRIME));
      assert.ok(!hasher.isHash(x, y, expected + FIELD_PRIME), 'not reduced');
    }),
    { numRuns: cases(1_000) },
  );
});

test('a first operand that was dropped from the cache is hashed right again', async (t) => {
  const hasher = new Pedersen(2);
  for (const x of [1n, 2n, 3n, 1n, 3n, 2n, 1n]) t.equal(hasher.hash(x, 9n), BigInt(pedersen(x, 9n)));
});

test('an operand outside the field is an assertion error', async (t) => {
  const hasher = new Pedersen();
  t.throws(() => hasher.hash(FIELD_PRIME, 1n), /field element/);
  t.throws(() => hasher.hash(1n, FIELD_PRIME), /field element/);
  t.throws(() => hasher.hash(-1n, 1n), /field element/);
});
