import assert from 'node:assert/strict';
import { LIMB_BITS, NUMBER_BYTES, placeOfBit, readNumber } from './limbs.js';
import { Secp256k1Arithmetic } from './secp256k1_arithmetic.js';
import { NEGATIVE, POINT_BYTES, REFERENCE_BYTES } from './secp256k1_module.js';

/** The generator of the curve (SEC 2, section 2.4.1): x and then y. */
const GENERATOR = Buffer.from(
  '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798' +
    '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8',
  'hex',
);
/** The number of the generator's table. */
export const GENERATOR_TABLE = 0;

/** The number of places. A multiple of a point is a sum of points from its table, one for each byte of the factor. */
const PLACES = 32;
/**
 * The number of points at each place: the multiples of the table's point by 256^place times each odd number up to 255. A negative multiple
 * uses the same point with the opposite sign.
 */
const ODD_MULTIPLES = 128;
const TABLE_BYTES = PLACES * ODD_MULTIPLES * POINT_BYTES;

// An odd factor is the sum of all 256^place · (2·b - 255), where b are the bytes of (factor − 1 + 2^256) / 2. These bytes begin at bit 1 of
// the factor.
const PLACE_BITS = Array.from({ length: PLACES }, (_, place) => placeOfBit(8 * place + 1));
const PLACE_LIMBS = Int32Array.from(PLACE_BITS, ([limb]) => limb);
const PLACE_SHIFTS = Int32Array.from(PLACE_BITS, ([, shift]) => shift);
const TOP_BYTE_BIT = 0x80;

/** The largest number of simultaneous sums. Each sum adds a multiple of one point to a multiple of another point. */
export const SUMS_MAX = 64;
const SUM_POINTS = 2 * PLACES;
// The last step of `fill` adds half of a table's points at once, with the memory of the sums.
assert(ODD_MULTIPLES / 2 <= SUMS_MAX);

/** A level of a sum. The points of a sum are added in pairs, then the sums of the pairs are added in pairs, and so on. */
interface Level {
  /** The number of pairs of each sum at this level. */
  readonly pairs: number;
  /** The address of the references to the points at this level. The next field is the address of the sums of these points. */
  readonly references: number;
  readonly sums: number;
}

/**
 * Points that are multiplied often. Each point has a table of 4,096 of its multiples, which takes 295 KB. Many sums are computed
 * together, because each addition of two points needs a division, and all sums can share one division.
 */
export class Secp256k1Tables {
  readonly arithmetic: Secp256k1Arithmetic;
  readonly #levels: readonly Level[];
  /** The flags of the sums of the last {@link add}: 1 for each sum that is wrong. */
  readonly #wrong = new Uint8Array(SUMS_MAX);
  readonly #tables: number;
  /** The first address of the memory for other code. */
  readonly freeFrom: number;

  /**
   * @param count the number of tables, including the generator's table
   * @param freeBytes the size of the memory for other code
   */
  constructor(count: number, freeBytes: number) {
    const pairs = Array.from({ length: Math.log2(SUM_POINTS) }, (_, level) => SUM_POINTS / 2 ** (level + 1));
    const pairBytes = SUMS_MAX * (2 * REFERENCE_BYTES + POINT_BYTES);
    const allPairs = pairs.reduce((sum, each) => sum + each);
    const bytes = allPairs * pairBytes + count * TABLE_BYTES;
    this.arithmetic = new Secp256k1Arithmetic(SUMS_MAX * pairs[0]!, bytes + freeBytes);
    let at = this.arithmetic.freeFrom;
    this.#levels = pairs.map((each) => {
      const references = at;
      const sums = references + each * SUMS_MAX * 2 * REFERENCE_BYTES;
      at += each * pairBytes;
      return { pairs: each, references, sums };
    });
    this.#tables = at;
    this.freeFrom = this.#tables + count * TABLE_BYTES;
    this.#referToSums();
    assert(this.fill(GENERATOR_TABLE, GENERATOR));
  }

  /**
   * Makes the table of a point of the curve, in 3 ms.
   * @param point64 x and then y of the point
   * @returns `false` if a multiple cannot be computed, which happens for about one point in 2^44. The caller must then not use the
   * table
   */
  fill(table: number, point64: Uint8Array): boolean {
    const { limbs } = this.arithmetic;
    const { references, sums } = this.#levels[0]!;
    const doubles = Array.from({ length: 8 * PLACES }, (_, i) => sums + i * POINT_BYTES);
    readNumber(point64, 0, limbs, doubles[0]! / 4);
    readNumber(point64, 32, limbs, (doubles[0]! + NUMBER_BYTES) / 4);
    for (let i = 1; i < doubles.length; i++) this.arithmetic.double(doubles[i]!, doubles[i - 1]!);
    for (let place = 0; place < PLACES; place++)
      this.arithmetic.copyPoint(this.#entry(table, place, 0), doubles[8 * place]!);
    let isRight = true;
    // Each step adds an even multiple to all existing points, and so doubles the number of points.
    for (let step = 1; 2 ** step <= ODD_MULTIPLES; step++) {
      const count = 2 ** (step - 1);
      let at = references / 4;
      for (let odd = 0; odd < count; odd++) {
        for (let place = 0; place < PLACES; place++) {
          limbs[at++] = this.#entry(table, place, odd);
          limbs[at++] = doubles[8 * place + step]!;
        }
      }
      const wrong = this.arithmetic.addPairs(references, count * PLACES, this.#entry(table, 0, count));
      if (wrong.length > 0) isRight = false;
    }
    return isRight;
  }

  /**
   * Chooses the points of a multiple for {@link add}.
   * @param sum 0 .. {@link SUMS_MAX} - 1
   * @param part 0 or 1
   * @param factor the address of an odd number below 2^256
   * @param sign 1 for the negative of the multiple, else 0
   */
  choose(sum: number, part: 0 | 1, table: number, factor: number, sign: number): void {
    const { limbs } = this.arithmetic;
    let at = this.#levels[0]!.references / 4 + sum * SUM_POINTS + part * PLACES;
    const first = factor / 4;
    for (let place = 0; place < PLACES; place++) {
      const limb = first + PLACE_LIMBS[place]!;
      const shift = PLACE_SHIFTS[place]!;
      const byte = ((limbs[limb]! >>> shift) | (limbs[limb + 1]! << (LIMB_BITS - shift))) & 0xff;
      limbs[at++] = this.#reference(
        table,
        place,
        place < PLACES - 1 ? byte : TOP_BYTE_BIT | (byte & 0x7f),
        sign,
      );
    }
  }

  /**
   * Adds the chosen points of the first `count` sums. {@link isWrong} reports each wrong sum. A sum can be wrong when two points
   * with the same x are added.
   */
  add(count: number): void {
    this.#wrong.fill(0);
    for (const { pairs, references, sums } of this.#levels) {
      for (const pair of this.arithmetic.addPairs(references, count * pairs, sums))
        this.#wrong[Math.floor(pair / pairs)] = 1;
    }
  }

  /**
   * Returns whether a sum of the last {@link add} is wrong. The point of a wrong sum has no meaning. A forger may have chosen
   * this point.
   */
  isWrong(sum: number): boolean {
    return this.#wrong[sum] === 1;
  }

  /** Returns the address of a sum after {@link add}. */
  pointOf(sum: number): number {
    return this.#levels.at(-1)!.sums + sum * POINT_BYTES;
  }

  #referToSums(): void {
    for (const [i, { pairs, references }] of this.#levels.entries()) {
      if (i === 0) continue;
      const { sums } = this.#levels[i - 1]!;
      for (let point = 0; point < 2 * pairs * SUMS_MAX; point++)
        this.arithmetic.limbs[references / 4 + point] = sums + point * POINT_BYTES;
    }
  }

  #entry(table: number, place: number, odd: number): number {
    return this.#tables + table * TABLE_BYTES + (odd * PLACES + place) * POINT_BYTES;
  }

  /** Returns the reference to the multiple `(2·byte − 255) · 256^place` of the table's point, negated if `sign` is 1. */
  #reference(table: number, place: number, byte: number, sign: number): number {
    const isPositive = byte >= ODD_MULTIPLES;
    const odd = isPositive ? byte - ODD_MULTIPLES : ODD_MULTIPLES - 1 - byte;
    return this.#entry(table, place, odd) | (isPositive ? sign : NEGATIVE - sign);
  }
}
