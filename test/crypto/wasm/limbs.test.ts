import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import { LIMB_BITS, LIMB_MASK, LIMBS, limbsOf, negate, reduceOnce } from '../../../src/crypto/wasm/limbs.js';
import { FIELD_PRIME, GROUP_ORDER } from '../../../src/crypto/wasm/secp256k1_field_code.js';
import { holds } from '../../holds.js';
import { cases } from '../../tier.js';

const AT = 3;
const number = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc.constantFrom(0n, 1n, 2n ** 29n - 1n, 2n ** 29n, 2n ** 232n - 1n, 2n ** 232n, 2n ** 256n - 1n),
);
const modulus = fc.constantFrom(FIELD_PRIME, GROUP_ORDER);

/** Returns limbs between guard limbs, which must stay unchanged. */
function limbsWith(value: bigint): Int32Array {
  return Int32Array.from([-1, -2, -3, ...limbsOf(value).map(Number), -4]);
}

function numberOf(limbs: Int32Array): bigint {
  let value = 0n;
  for (let i = LIMBS - 1; i >= 0; i--) {
    const limb = limbs[AT + i]!;
    if (limb < 0 || limb > LIMB_MASK) throw new RangeError(`limb ${i} is ${limb}`);
    value = (value << BigInt(LIMB_BITS)) | BigInt(limb);
  }
  return value;
}

function isRoundUntouched(limbs: Int32Array): boolean {
  return [...limbs.subarray(0, AT), ...limbs.subarray(AT + LIMBS)].join() === '-1,-2,-3,-4';
}

test('subtracts a modulus once, or not', async (t) => {
  const step = fc.constantFrom(-1n, 0n, 1n, 2n ** 29n, 2n ** 200n, -(2n ** 200n));
  holds(
    t,
    fc.property(number, modulus, step, fc.boolean(), (any, m, near, isNear) => {
      const value = isNear ? m + near : any;
      const limbs = limbsWith(value);
      reduceOnce(limbs, AT, limbsOf(m).map(Number));
      assert.equal(numberOf(limbs), value >= m ? value - m : value);
      assert.ok(isRoundUntouched(limbs));
    }),
    { numRuns: cases(500) },
  );
});

test('negates 0 to the modulus, and what is between', async (t) => {
  holds(
    t,
    fc.property(number, modulus, fc.constantFrom(0n, 1n, undefined), (any, m, far) => {
      const value = far === undefined ? any % m : m - far;
      const limbs = limbsWith(value);
      negate(limbs, AT, limbsOf(m).map(Number));
      assert.equal(numberOf(limbs), m - value);
      assert.ok(isRoundUntouched(limbs));
    }),
    { numRuns: cases(500) },
  );
});
