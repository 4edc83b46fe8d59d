import fc from 'fast-check';
import { test } from 'tap';
import {
  LIMB_BITS,
  LIMB_MASK,
  LIMBS,
  limbsOf,
  NUMBER_BYTES,
  TOP_LIMB_BITS,
} from '../../../src/crypto/wasm/limbs.js';
import {
  GROUP_ORDER as N,
  FIELD_PRIME as P,
  SCALAR_FACTOR,
} from '../../../src/crypto/wasm/secp256k1_field_code.js';
import { openSecp256k1Module } from '../../../src/crypto/wasm/secp256k1_module.js';
import { cases } from '../../tier.js';
import { inverse, modulo } from '../crafted_signatures.js';

const wasm = openSecp256k1Module(1);
const memory = new Int32Array(wasm.memory.buffer);
const [A, B, OUT] = [0, NUMBER_BYTES, 2 * NUMBER_BYTES];

/** The largest amount by which the third limb of a reduced number may exceed its range. */
const THIRD_MORE = 2 ** 12 - 1;
const TOP_MAX = 2 ** TOP_LIMB_BITS - 1;

/** The limbs of a number. A limb may be outside its range. */
type Limbs = readonly number[];

const limb = (min: number, max: number) =>
  fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, min + 1, max - 1, max));
/** Numbers in the form that the reductions of the field return. Half of the values are boundary values. */
const reduced: fc.Arbitrary<Limbs> = fc.oneof(
  fc.tuple(
    ...Array.from({ length: LIMBS }, (_, i) =>
      i === 2
        ? limb(-THIRD_MORE, LIMB_MASK + 1 + THIRD_MORE)
        : limb(0, i === LIMBS - 1 ? TOP_MAX : LIMB_MASK),
    ),
  ),
  fc
    .constantFrom(0n, 1n, 2n, P - 1n, P, P + 1n, 2n ** 256n - 1n, 2n ** 255n)
    .map((value) => limbsOf(value).map(Number)),
);
const LEAST: Limbs = limbsOf(0n).map((_, i) => (i === 2 ? -THIRD_MORE : 0));
const MOST: Limbs = limbsOf(0n).map((_, i) =>
  i === 2 ? LIMB_MASK + 1 + THIRD_MORE : i === LIMBS - 1 ? TOP_MAX : LIMB_MASK,
);

function numberOf(limbs: ArrayLike<number>): bigint {
  return Array.from(limbs).reduce((sum, each, i) => sum + BigInt(each) * 2n ** BigInt(LIMB_BITS * i), 0n);
}

function put(at: number, limbs: Limbs): void {
  memory.set(limbs, at / 4);
}

function read(at: number): Limbs {
  return Array.from(memory.subarray(at / 4, at / 4 + LIMBS));
}

function isReduced(limbs: Limbs): boolean {
  return limbs.every((each, i) => each >= LEAST[i]! && each <= MOST[i]!);
}

/** Throws an error that names the numbers, unless `isSo` is true. */
function mustBe(isSo: boolean, ...numbers: readonly unknown[]): void {
  if (!isSo) throw new Error(JSON.stringify(numbers));
}

/** The factors of sums and differences of reduced numbers that are multiplied: 3 a, 2 a, a - b, a + b, a - 2 b and so on. */
const FACTORS: readonly (readonly [number, number])[] = [
  [3, 0],
  [-1, 0],
  [1, 1],
  [-1, -1],
  [1, -2],
];

test('multiply: numbers of the field, and sums of them with a reduced one', async () => {
  const factors = fc.constantFrom(...FACTORS);
  const check = (a: Limbs, b: Limbs, c: Limbs, [timesA, timesB]: readonly [number, number]): void => {
    const sum = a.map((each, i) => timesA * each + timesB * b[i]!);
    // A number times 3, or plus twice another number, is only multiplied by 1.
    const other = Math.abs(timesA) + Math.abs(timesB) > 2 ? limbsOf(1n).map(Number) : c;
    put(A, sum);
    put(B, other);
    for (const [out, left, right] of [
      [OUT, A, B],
      [OUT, B, A],
      [A, A, B],
    ] as const) {
      wasm.multiply(out, left, right);
      const product = read(out);
      mustBe(isReduced(product), sum, other, product);
      mustBe(modulo(numberOf(product) - numberOf(sum) * numberOf(other), P) === 0n, sum, other, product);
    }
  };
  for (const a of [LEAST, MOST])
    for (const b of [LEAST, MOST])
      for (const c of [LEAST, MOST]) for (const each of FACTORS) check(a, b, c, each);
  fc.assert(fc.property(reduced, reduced, reduced, factors, check), { numRuns: cases(3_000) });
});

test('square: so many times', async () => {
  fc.assert(
    fc.property(reduced, fc.integer({ min: 1, max: 9 }), (a, times) => {
      put(A, a);
      wasm.square(OUT, A, times);
      let wanted = numberOf(a);
      for (let i = 0; i < times; i++) wanted = modulo(wanted * wanted, P);
      mustBe(isReduced(read(OUT)) && modulo(numberOf(read(OUT)) - wanted, P) === 0n, a, times);
    }),
    { numRuns: cases(1_000), examples: [MOST, LEAST].map((a) => [a, 3]) },
  );
});

const SCALAR_MAX = (N * 104n) / 100n - 1n;
const scalar = fc.oneof(
  fc.bigInt({ min: 0n, max: SCALAR_MAX }),
  fc.constantFrom(0n, 1n, N - 1n, N, N + 1n, 2n ** 256n - 1n, SCALAR_MAX, SCALAR_FACTOR % N),
);

/** Returns a number below 2^261 as limbs below 2^29. */
const limbsOfScalar = (value: bigint): Limbs => limbsOf(value).map(Number);

function isScalar(limbs: Limbs, wanted: bigint): boolean {
  const value = numberOf(limbs);
  const hasLimbs = limbs.every((each) => each >= 0 && each <= LIMB_MASK);
  return hasLimbs && value <= SCALAR_MAX && modulo(value - wanted, N) === 0n;
}

test('multiplyScalar and squareScalar divide by Montgomery’s factor', async () => {
  const factorInverse = inverse(SCALAR_FACTOR, N);
  fc.assert(
    fc.property(scalar, scalar, fc.integer({ min: 1, max: 9 }), (a, b, times) => {
      put(A, limbsOfScalar(a));
      put(B, limbsOfScalar(b));
      wasm.multiplyScalar(OUT, A, B);
      mustBe(isScalar(read(OUT), a * b * factorInverse), String(a), String(b), read(OUT));
      wasm.squareScalar(OUT, A, times);
      let wanted = a;
      for (let i = 0; i < times; i++) wanted = modulo(wanted * wanted * factorInverse, N);
      mustBe(isScalar(read(OUT), wanted), String(a), times, read(OUT));
    }),
    { numRuns: cases(2_000), examples: [[SCALAR_MAX, SCALAR_MAX, 9]] },
  );
});
