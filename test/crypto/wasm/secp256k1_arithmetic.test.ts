import fc from 'fast-check';
import { test } from 'tap';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { LIMB_BITS, LIMBS, NUMBER_BYTES } from '../../../src/crypto/wasm/limbs.js';
import { Secp256k1Arithmetic } from '../../../src/crypto/wasm/secp256k1_arithmetic.js';
import {
  GROUP_ORDER as N,
  FIELD_PRIME as P,
  SCALAR_FACTOR,
} from '../../../src/crypto/wasm/secp256k1_field_code.js';
import { POINT_BYTES } from '../../../src/crypto/wasm/secp256k1_module.js';
import { cases } from '../../tier.js';
import { inverse, modulo, word } from '../crafted_signatures.js';

const PAIRS = 5;
const arithmetic = new Secp256k1Arithmetic(PAIRS, 4 * NUMBER_BYTES + 40 * POINT_BYTES);
const [A, OUT] = [arithmetic.freeFrom, arithmetic.freeFrom + NUMBER_BYTES];
const REFERENCES = OUT + NUMBER_BYTES;
const POINTS = REFERENCES + 2 * NUMBER_BYTES;
const SUMS = POINTS + 2 * PAIRS * POINT_BYTES;

function read(at: number): bigint {
  const limbs = Array.from(arithmetic.limbs.subarray(at / 4, at / 4 + LIMBS));
  return limbs.reduce((sum, limb, i) => sum + BigInt(limb) * 2n ** BigInt(LIMB_BITS * i), 0n);
}

/** Writes the point that is a multiple of the generator. */
function writePoint(at: number, multiple: bigint): void {
  const { x, y } = pointOf(multiple);
  arithmetic.write(at, x);
  arithmetic.write(at + NUMBER_BYTES, y);
}

function pointOf(multiple: bigint): { x: bigint; y: bigint } {
  const hex = Buffer.from(secp256k1.publicKey(word(multiple))).toString('hex', 1);
  return { x: BigInt(`0x${hex.slice(0, 64)}`), y: BigInt(`0x${hex.slice(64)}`) };
}

function pointAt(at: number): { x: bigint; y: bigint } {
  return { x: modulo(read(at), P), y: modulo(read(at + NUMBER_BYTES), P) };
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

test('inverts numbers outside of the modulus, with limbs outside of 29 bits', async (t) => {
  const beyond = 2 ** 12 - 1;
  for (const number of [1n, 2n, P - 1n, P + 1n, 2n ** 256n - 1n, 12345n ** 16n % P])
    for (const more of [-beyond, -1, 0, beyond]) {
      arithmetic.write(A, number);
      arithmetic.limbs[A / 4 + 2]! += more;
      const written = read(A);
      arithmetic.invert(OUT, A);
      t.equal(modulo(read(OUT) * written, P), 1n, `${written}`);
      t.ok(read(OUT) > 0n && read(OUT) < P, 'the inverse is reduced');
      const limbs = arithmetic.limbs.subarray(OUT / 4, OUT / 4 + LIMBS);
      t.ok(
        limbs.every((limb) => limb >= 0 && limb < 2 ** LIMB_BITS),
        limbs.join(),
      );
    }
});

test('doubles points', async (t) => {
  for (let multiple = 1n; multiple < N / 4n; multiple = 3n * multiple + 1n) {
    writePoint(POINTS, multiple);
    arithmetic.double(SUMS, POINTS);
    arithmetic.double(POINTS, SUMS);
    t.same([pointAt(SUMS), pointAt(POINTS)], [pointOf(2n * multiple), pointOf(4n * multiple)]);
  }
});

test('adds pairs of points, also beside two with the same x', async (t) => {
  const pairs = [
    [3n, 5n],
    [N - 4n, 4n],
    [2n ** 200n, N - 1n],
    [7n, 7n],
    [N - 1n, 10n],
  ] as const;
  for (const [i, [left, right]] of pairs.entries()) {
    for (const [n, multiple] of [left, right].entries()) {
      const at = POINTS + (2 * i + n) * POINT_BYTES;
      // If the multiple is above half of the order, the point is written as the negative of another point.
      writePoint(at, multiple > N / 2n ? N - multiple : multiple);
      arithmetic.limbs[REFERENCES / 4 + 2 * i + n] = at | (multiple > N / 2n ? 1 : 0);
    }
  }
  arithmetic.addPairs(REFERENCES, PAIRS, SUMS);
  for (const [i, [left, right]] of pairs.entries()) {
    const isSameX = i === 1 || i === 3;
    if (!isSameX) t.same(pointAt(SUMS + i * POINT_BYTES), pointOf(modulo(left + right, N)));
  }
});
