import { carry, inverseModuloLimb, LIMBS, limbsOf, NUMBER_BYTES } from './limbs.js';
import { FIELD_PRIME, GROUP_ORDER, SCALAR_FACTOR } from './secp256k1_field_code.js';
import { D, E, F, G, INVERSION_BYTES } from './secp256k1_inversion_code.js';
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
const [PRIME, ORDER, TO_MONTGOMERY] = [4, 5, 6].map((i) => i * NUMBER_BYTES) as [number, number, number];
const INVERSION = 7 * NUMBER_BYTES;
const PRODUCTS = INVERSION + INVERSION_BYTES;

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
    this.write(PRIME, FIELD_PRIME);
    this.write(ORDER, GROUP_ORDER);
    this.write(TO_MONTGOMERY, SCALAR_FACTOR ** 3n % GROUP_ORDER);
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
    this.#combineNumbers(A, [2, y]);
    this.invert(B, A);
    module.square(A, x, 1);
    this.#combineNumbers(A, [3, A]);
    module.multiply(SLOPE, A, B);
    module.square(A, SLOPE, 1);
    this.#combineNumbers(out, [1, A], [-2, x]);
    this.#combineNumbers(A, [1, x], [-1, out]);
    module.multiply(B, SLOPE, A);
    this.#combineNumbers(out + NUMBER_BYTES, [1, B], [-1, y]);
  }

  /** Computes 1 / a for a field element other than 0. */
  invert(out: number, a: number): void {
    this.#invert(out, a, PRIME, INVERSE_OF_PRIME);
  }

  /** Inverts a scalar in Montgomery form: the input `a·R` gives `a⁻¹·R`. */
  invertScalar(out: number, a: number): void {
    this.#invert(out, a, ORDER, INVERSE_OF_ORDER);
    this.module.multiplyScalar(out, out, TO_MONTGOMERY);
  }

  /** @param inverse the inverse of the modulus, modulo 2^29 */
  #invert(out: number, a: number, modulus: number, inverse: number): void {
    const { limbs } = this;
    limbs.fill(0, (INVERSION + D) / 4, (INVERSION + F) / 4);
    limbs[(INVERSION + E) / 4] = 1;
    this.copy(INVERSION + F, modulus);
    this.copy(INVERSION + G, a);
    this.module.divide(INVERSION, modulus, inverse);
    const isNegative = limbs[(INVERSION + F) / 4 + LIMBS - 1]! < 0;
    const d = (INVERSION + D) / 4;
    const at = out / 4;
    const add = modulus / 4;
    // The result is between −2 and 1 times the modulus, and its negative may be needed.
    const isBelow = limbs[d + LIMBS - 1]! < 0;
    for (let i = 0; i < LIMBS; i++) {
      const limb = limbs[d + i]! + (isBelow ? limbs[add + i]! : 0);
      limbs[at + i] = isNegative ? -limb : limb;
    }
    carry(limbs, at);
    if (limbs[at + LIMBS - 1]! >= 0) return;
    for (let i = 0; i < LIMBS; i++) limbs[at + i]! += limbs[add + i]!;
    carry(limbs, at);
  }

  /**
   * Writes a sum of small multiples of reduced numbers. The sum of the factors is at most 3, so the limbs of the result stay below 2^31.
   */
  #combineNumbers(out: number, ...terms: readonly (readonly [factor: number, number: number])[]): void {
    for (let i = 0; i < LIMBS; i++) {
      let sum = 0;
      for (const [factor, number] of terms) sum += factor * this.limbs[number / 4 + i]!;
      this.limbs[out / 4 + i] = sum;
    }
    this.module.multiply(out, out, ONE);
  }
}

const INVERSE_OF_PRIME = inverseModuloLimb(FIELD_PRIME);
const INVERSE_OF_ORDER = inverseModuloLimb(GROUP_ORDER);
