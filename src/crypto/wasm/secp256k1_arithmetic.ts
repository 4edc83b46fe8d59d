import { LIMBS, limbsOf, NUMBER_BYTES } from './limbs.js';
import { FIELD_PRIME, GROUP_ORDER } from './secp256k1_field_code.js';
import {
  DOUBTFUL,
  openSecp256k1Module,
  POINT_BYTES,
  REFERENCE_BYTES,
  type Secp256k1Module,
} from './secp256k1_module.js';
import { PAGE_BYTES } from './wasm_code.js';

// The memory that this class uses: first some numbers, then the products of a batch of pairs.
const ONE = 0;
const [SLOPE, A, B] = [1, 2, 3].map((i) => i * NUMBER_BYTES) as [number, number, number];
/** The powers `x^(2^k − 1)` of a number, for k = 1, 2, 4 and so on. */
const ONES = 4 * NUMBER_BYTES;
const ONES_MAX = 7;
const PRODUCTS = ONES + (ONES_MAX + 1) * NUMBER_BYTES;

/**
 * Operations that need more than one call of the {@link Secp256k1Module}. These operations work on public numbers in the module's
 * memory. Numbers and points are identified by their addresses.
 */
export class Secp256k1Arithmetic {
  readonly module: Secp256k1Module;
  /** The whole memory, as limbs of four bytes. */
  readonly limbs: Int32Array;
  /** The first address of the memory for other code. */
  readonly freeFrom: number;

  /**
   * @param pairsMax the largest number of pairs of points that are added at once
   * @param freeBytes the size of the memory for other code
   */
  constructor(pairsMax: number, freeBytes: number) {
    this.freeFrom = PRODUCTS + (pairsMax + 1) * NUMBER_BYTES;
    this.module = openSecp256k1Module(Math.ceil((this.freeFrom + freeBytes) / PAGE_BYTES));
    this.limbs = new Int32Array(this.module.memory.buffer);
    this.write(ONE, 1n);
    this.write(PRODUCTS, 1n);
  }

  write(at: number, value: bigint): void {
    this.limbs.set(limbsOf(value).map(Number), at / 4);
  }

  copy(out: number, number: number): void {
    this.limbs.copyWithin(out / 4, number / 4, (number + NUMBER_BYTES) / 4);
  }

  copyPoint(out: number, point: number): void {
    this.limbs.copyWithin(out / 4, point / 4, (point + POINT_BYTES) / 4);
  }

  /**
   * Adds pairs of points with one inversion for all pairs.
   * @param references two references for each pair
   * @param sums the address of the sums, which follow each other
   * @returns the pairs whose sums are wrong: pairs of points with the same x, and once in 2^56 a pair of other points
   */
  addPairs(references: number, pairs: number, sums: number): number[] {
    this.module.multiplyDifferences(references, pairs, PRODUCTS);
    this.invert(A, PRODUCTS + pairs * NUMBER_BYTES);
    const last = pairs - 1;
    this.module.addPairs(
      references + 2 * last * REFERENCE_BYTES,
      pairs,
      PRODUCTS + last * NUMBER_BYTES,
      A,
      sums + last * POINT_BYTES,
    );
    const wrong: number[] = [];
    for (let pair = 0, at = references / 4; pair < pairs; pair++, at += 2) {
      if ((this.limbs[at]! & DOUBTFUL) === 0) continue;
      this.limbs[at]! &= ~DOUBTFUL;
      wrong.push(pair);
    }
    return wrong;
  }

  /** Doubles a point. The slope of the tangent at a point is 3 x² / 2 y. */
  double(out: number, point: number): void {
    const { module } = this;
    const [x, y] = [point, point + NUMBER_BYTES];
    this.#combine(A, [2, y]);
    this.invert(B, A);
    module.square(A, x, 1);
    this.#combine(A, [3, A]);
    module.multiply(SLOPE, A, B);
    module.square(A, SLOPE, 1);
    this.#combine(out, [1, A], [-2, x]);
    this.#combine(A, [1, x], [-1, out]);
    module.multiply(B, SLOPE, A);
    this.#combine(out + NUMBER_BYTES, [1, B], [-1, y]);
  }

  /** Computes 1 / a as a to the power of p - 2 (Fermat). */
  invert(out: number, a: number): void {
    raise(out, a, FIELD_INVERSION, this.module.multiply, this.module.square);
  }

  /** Inverts a scalar in Montgomery form: the input `a·R` gives `a⁻¹·R`. */
  invertScalar(out: number, a: number): void {
    raise(out, a, SCALAR_INVERSION, this.module.multiplyScalar, this.module.squareScalar);
  }

  /**
   * Writes a sum of small multiples of reduced numbers. The sum of the factors is at most 3, so the limbs of the result stay below 2^31.
   */
  #combine(out: number, ...terms: readonly (readonly [factor: number, number: number])[]): void {
    for (let i = 0; i < LIMBS; i++) {
      let sum = 0;
      for (const [factor, number] of terms) sum += factor * this.limbs[number / 4 + i]!;
      this.limbs[out / 4 + i] = sum;
    }
    this.module.multiply(out, out, ONE);
  }
}

/** A step of an exponentiation: some squarings, and then a factor `x^(2^k − 1)` with k = 2^`ones`. */
interface Step {
  readonly squarings: number;
  readonly ones: number;
}

function raise(
  out: number,
  a: number,
  [first, ...steps]: readonly Step[],
  multiply: Secp256k1Module['multiply'],
  square: Secp256k1Module['square'],
): void {
  const onesAt = (ones: number) => (ones === 0 ? a : ONES + ones * NUMBER_BYTES);
  for (let ones = 0; ones < ONES_MAX; ones++) {
    square(onesAt(ones + 1), onesAt(ones), 2 ** ones);
    multiply(onesAt(ones + 1), onesAt(ones + 1), onesAt(ones));
  }
  let soFar = onesAt(first!.ones);
  for (const { squarings, ones } of steps) {
    square(out, soFar, squarings);
    multiply(out, out, onesAt(ones));
    soFar = out;
  }
}

const FIELD_INVERSION = stepsTo(FIELD_PRIME - 2n);
const SCALAR_INVERSION = stepsTo(GROUP_ORDER - 2n);

/** Finds the steps that compute a power with this exponent. The exponents have long runs of 1 bits. */
function stepsTo(exponent: bigint): readonly Step[] {
  const steps: Step[] = [];
  const bits = exponent.toString(2);
  for (let at = 0; at < bits.length; ) {
    const zeros = /^0*/.exec(bits.slice(at))![0].length;
    const run = /^1*/.exec(bits.slice(at + zeros))![0].length;
    const ones = Math.floor(Math.log2(run));
    steps.push({ squarings: zeros + 2 ** ones, ones });
    at += zeros + 2 ** ones;
  }
  return steps;
}
