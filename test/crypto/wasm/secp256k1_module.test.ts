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
import {
  openSecp256k1Module,
  POINT_BYTES,
  REFERENCE_BYTES,
} from '../../../src/crypto/wasm/secp256k1_module.js';
import { PAGE_BYTES } from '../../../src/crypto/wasm/wasm_code.js';
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
  ...([
    [3, 0],
    [2, 0],
    [1, 0],
    [-1, 0],
  ] as const),
  ...([
    [1, 1],
    [1, -1],
    [-1, -1],
    [1, -2],
  ] as const),
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

interface Point {
  readonly x: Limbs;
  readonly y: Limbs;
  readonly isNegative: boolean;
}

// The memory has the points of up to `PAIRS_MAX` pairs, then the references, products, inverse and sums that the functions use.
const PAIRS_MAX = 8;
const POINTS = 0;
const REFERENCES = POINTS + 2 * PAIRS_MAX * POINT_BYTES;
const PRODUCTS = REFERENCES + 2 * PAIRS_MAX * REFERENCE_BYTES;
const INVERSE = PRODUCTS + (PAIRS_MAX + 1) * NUMBER_BYTES;
const SUMS = INVERSE + NUMBER_BYTES;
const END = SUMS + PAIRS_MAX * POINT_BYTES;

test('pairs of points: the sum of each with another x, and the others are counted', async (t) => {
  const point = fc.record({ x: reduced, y: reduced, isNegative: fc.boolean() });
  const extreme = fc.constantFrom(
    ...[LEAST, MOST].flatMap((x) => [LEAST, MOST].map((y) => ({ x, y, isNegative: x === y }))),
  );
  const low = fc.bigInt({ min: 0n, max: 2n ** 32n + 976n }).map((x) => [x, x + P]);
  /** Pairs of points with the same x modulo p. The two representations of x are equal or differ by p. */
  const same = fc.tuple(low, fc.nat(1), fc.nat(1), point, point).map(([x, one, two, left, right]) => {
    const xOf = (which: number) => limbsOf(x[which]!).map(Number);
    return [
      { ...left, x: xOf(one) },
      { ...right, x: xOf(two) },
    ] as const;
  });
  const pair = fc.oneof(
    { weight: 4, arbitrary: fc.tuple(point, point) },
    { weight: 1, arbitrary: fc.tuple(extreme, extreme) },
    { weight: 1, arbitrary: same },
  );
  let right = 0;
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: PAIRS_MAX }), (pairs) => {
      memory.fill(0);
      const areSame = add(pairs);
      for (const [i, [left, other]] of pairs.entries()) {
        if (areSame[i]) continue;
        right += 1;
        const sum = SUMS + i * POINT_BYTES;
        const [x, y] = [read(sum), read(sum + NUMBER_BYTES)];
        const wanted = sumOf(left, other);
        mustBe(isReduced(x) && isReduced(y), pairs, i);
        mustBe(
          modulo(numberOf(x) - wanted.x, P) === 0n && modulo(numberOf(y) - wanted.y, P) === 0n,
          pairs,
          i,
        );
      }
      mustBe(
        memory.subarray(END / 4, PAGE_BYTES / 4).every((each) => each === 0),
        'written behind the sums',
      );
    }),
    { numRuns: cases(500) },
  );
  t.ok(right > cases(1_000), `${right} sums`);
});

/** Adds pairs of points. @returns the pairs whose x are equal in the lowest two limbs */
function add(pairs: readonly (readonly [Point, Point])[]): boolean[] {
  for (const [i, { x, y, isNegative }] of pairs.flat().entries()) {
    put(POINTS + i * POINT_BYTES, x);
    put(POINTS + i * POINT_BYTES + NUMBER_BYTES, y);
    memory[REFERENCES / 4 + i] = (POINTS + i * POINT_BYTES) | (isNegative ? 1 : 0);
  }
  put(PRODUCTS, limbsOf(1n).map(Number));
  const lowest = 2n ** BigInt(2 * LIMB_BITS);
  const doubtful = [0n, P, -P].map((each) => modulo(each, lowest));
  const areSame = pairs.map(([left, right]) =>
    doubtful.includes(modulo(numberOf(right.x) - numberOf(left.x), lowest)),
  );
  wasm.multiplyDifferences(REFERENCES, pairs.length, PRODUCTS);
  const product = numberOf(read(PRODUCTS + pairs.length * NUMBER_BYTES));
  put(INVERSE, limbsOf(inverse(product, P)).map(Number));
  const last = pairs.length - 1;
  wasm.addPairs(
    REFERENCES + 2 * last * REFERENCE_BYTES,
    pairs.length,
    PRODUCTS + last * NUMBER_BYTES,
    INVERSE,
    SUMS + last * POINT_BYTES,
  );
  return areSame;
}

/** Computes the sum by the formula of the chord. The points may be outside the curve. */
function sumOf(left: Point, right: Point): { x: bigint; y: bigint } {
  const [x1, x2] = [numberOf(left.x), numberOf(right.x)];
  const [y1, y2] = [left, right].map(({ y, isNegative }) => (isNegative ? -numberOf(y) : numberOf(y))) as [
    bigint,
    bigint,
  ];
  const slope = (y2 - y1) * inverse(x2 - x1, P);
  const x = modulo(slope * slope - x1 - x2, P);
  return { x, y: modulo(slope * (x1 - x) - y1, P) };
}
