import fc from 'fast-check';
import { test } from 'tap';
import { LIMB_BITS, LIMBS, NUMBER_BYTES } from '../../../src/crypto/wasm/limbs.js';
import { Secp256k1Arithmetic } from '../../../src/crypto/wasm/secp256k1_arithmetic.js';
import {
  GROUP_ORDER as N,
  FIELD_PRIME as P,
  SCALAR_FACTOR,
} from '../../../src/crypto/wasm/secp256k1_field_code.js';
import { cases } from '../../tier.js';
import { inverse, modulo } from '../crafted_signatures.js';

const arithmetic = new Secp256k1Arithmetic(1, 2 * NUMBER_BYTES);
const [A, OUT] = [arithmetic.freeFrom, arithmetic.freeFrom + NUMBER_BYTES];

function read(at: number): bigint {
  const limbs = Array.from(arithmetic.limbs.subarray(at / 4, at / 4 + LIMBS));
  return limbs.reduce((sum, limb, i) => sum + BigInt(limb) * 2n ** BigInt(LIMB_BITS * i), 0n);
}

const edges = (modulus: bigint) =>
  fc.oneof(
    fc.bigInt({ min: 1n, max: modulus - 1n }),
    fc.constantFrom(1n, 2n, 3n, 2n ** 128n, (modulus - 1n) / 2n, modulus - 2n, modulus - 1n),
  );

test('inverts numbers of the field, and scalars times Montgomery’s factor', async (t) => {
  fc.assert(
    fc.property(edges(P), edges(N), (number, scalar) => {
      arithmetic.write(A, number);
      arithmetic.invert(OUT, A);
      t.equal(modulo(read(OUT) * number, P), 1n);
      arithmetic.write(A, modulo(scalar * SCALAR_FACTOR, N));
      arithmetic.invertScalar(OUT, A);
      t.equal(modulo(read(OUT), N), modulo(inverse(scalar, N) * SCALAR_FACTOR, N));
    }),
    { numRuns: cases(200) },
  );
});
