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

/**
 * The number of bits of a digit of a factor. Larger digits need fewer additions and larger tables: a table of 8 bits has 295 KB, takes 2 ms
 * to make, and a sum has 63 additions; with 10 bits 960 KB, 5 ms and 51.
 */
const DIGIT_BITS = 8;
/** The number of places. A multiple of a point is a sum of points from its table, one for each digit of the factor. */
const PLACES = 256 / DIGIT_BITS;
/**
 * The number of points at each place: the multiples of the table's point by 2^(DIGIT_BITS·place) times each odd number below
 * 2^DIGIT_BITS. A negative multiple uses the same point with the opposite sign.
 */
const ODD_MULTIPLES = 2 ** (DIGIT_BITS - 1);
const TABLE_BYTES = PLACES * ODD_MULTIPLES * POINT_BYTES;
/** The bits of the highest digit that come from the factor. */
const TOP_MASK = 2 ** (255 - DIGIT_BITS * (PLACES - 1)) - 1;

/** The number of limbs in a cache line of 64 bytes. A point has 18 limbs. */
const CACHE_LINE_LIMBS = 16;
/** Receives values that are read only to load their cache lines. Without a use of the values, V8 would remove the reads. */
const CACHE_READS = new Int32Array(1);

/** The largest number of simultaneous sums. Each sum adds a multiple of one point to a multiple of another point. */
export const SUMS_MAX = 64;

/**
 * A level of a sum. The points of a sum are added in pairs, then the sums of the pairs are added in pairs, and so on. A point without a
 * partner waits for the next level.
 */
interface Level {
  /** The number of pairs of each sum at this level. */
  readonly pairs: number;
  /** The address of the references to the points at this level. The next field is the address of the sums of these points. */
  readonly references: number;
  readonly sums: number;
}

/**
 * Points that are multiplied often. Each point has a table of its multiples. Many sums are computed together, because each addition of two
 * points needs a division, and all sums can share one division.
 */
export class Secp256k1Tables {
  readonly arithmetic: Secp256k1Arithmetic;
  /** The limb that contains the lowest bit of each place's digit, and the bit's position in that limb. */
  readonly #placeLimbs: Int32Array;
  readonly #placeShifts: Int32Array;
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
    // An odd factor is the sum of all 2^(DIGIT_BITS·place) · (2·d - 2^DIGIT_BITS + 1), where d are the digits of
    // (factor − 1 + 2^(DIGIT_BITS·places)) / 2. These digits begin at bit 1 of the factor.
    const placeBits = Array.from({ length: PLACES }, (_, place) => placeOfBit(DIGIT_BITS * place + 1));
    this.#placeLimbs = Int32Array.from(placeBits, ([limb]) => limb);
    this.#placeShifts = Int32Array.from(placeBits, ([, shift]) => shift);
    const pairs: number[] = [];
    for (let points = 2 * PLACES; points > 1; points -= pairs.at(-1)!) pairs.push(points >> 1);
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
   * Makes the table of a point of the curve.
   * @param point64 x and then y of the point
   * @returns `false` if a multiple cannot be computed, which happens for about one point in 2^44. The caller must then not use the
   * table
   */
  fill(table: number, point64: Uint8Array): boolean {
    const { limbs } = this.arithmetic;
    const { references, sums } = this.#levels[0]!;
    const doubles = Array.from({ length: DIGIT_BITS * PLACES }, (_, i) => sums + i * POINT_BYTES);
    readNumber(point64, 0, limbs, doubles[0]! / 4);
    readNumber(point64, 32, limbs, (doubles[0]! + NUMBER_BYTES) / 4);
    for (let i = 1; i < doubles.length; i++) this.arithmetic.double(doubles[i]!, doubles[i - 1]!);
    for (let place = 0; place < PLACES; place++)
      this.arithmetic.copyPoint(this.#entryAddress(table, place, 0), doubles[DIGIT_BITS * place]!);
    let isRight = true;
    // Each step adds an even multiple to all existing points, and so doubles the number of points. The additions use the memory of the
    // sums, which has space for one addition at each place of each sum.
    for (let step = 1; step < DIGIT_BITS; step++) {
      const count = 2 ** (step - 1);
      for (let first = 0; first < count; first += SUMS_MAX) {
        const end = Math.min(first + SUMS_MAX, count);
        let at = references / 4;
        for (let odd = first; odd < end; odd++) {
          for (let place = 0; place < PLACES; place++) {
            limbs[at++] = this.#entryAddress(table, place, odd);
            limbs[at++] = doubles[DIGIT_BITS * place + step]!;
          }
        }
        const out = this.#entryAddress(table, 0, count + first);
        if (this.arithmetic.addPairs(references, (end - first) * PLACES, out).length > 0) isRight = false;
      }
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
    const top = PLACES - 1;
    const digitMask = 2 * ODD_MULTIPLES - 1;
    const [placeLimbs, placeShifts] = [this.#placeLimbs, this.#placeShifts];
    let read = 0;
    let at = this.#levels[0]!.references / 4 + (2 * sum + part) * PLACES;
    const first = factor / 4;
    for (let place = 0; place <= top; place++) {
      const limb = first + placeLimbs[place]!;
      const shift = placeShifts[place]!;
      const bits = (limbs[limb]! >>> shift) | (limbs[limb + 1]! << (LIMB_BITS - shift));
      const digit = place < top ? bits & digitMask : ODD_MULTIPLES | (bits & TOP_MASK);
      const reference = this.#reference(table, place, digit, sign);
      limbs[at++] = reference;
      // Reading a point here loads its cache lines while the loop continues. The additions would wait for each point.
      read |= limbs[reference >> 2]! | limbs[(reference >> 2) + CACHE_LINE_LIMBS]!;
    }
    CACHE_READS[0] = read;
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
    const { limbs } = this.arithmetic;
    const sumsOf = ({ pairs, sums }: Level, sum: number) =>
      Array.from({ length: pairs }, (_, pair) => sums + (sum * pairs + pair) * POINT_BYTES);
    const [first, ...others] = this.#levels;
    for (let sum = 0; sum < SUMS_MAX; sum++) {
      let points = sumsOf(first!, sum);
      for (const level of others) {
        const paired = 2 * level.pairs;
        limbs.set(points.slice(0, paired), level.references / 4 + sum * paired);
        points = [...sumsOf(level, sum), ...points.slice(paired)];
      }
    }
  }

  #entryAddress(table: number, place: number, odd: number): number {
    return this.#tables + table * TABLE_BYTES + (odd * PLACES + place) * POINT_BYTES;
  }

  /** Returns the reference to the multiple `(2·digit − 2^DIGIT_BITS + 1) · 2^(DIGIT_BITS·place)` of the table's point, negated if `sign` is 1. */
  #reference(table: number, place: number, digit: number, sign: number): number {
    const odds = ODD_MULTIPLES;
    const isPositive = digit >= odds;
    const odd = isPositive ? digit - odds : odds - 1 - digit;
    return this.#entryAddress(table, place, odd) | (isPositive ? sign : NEGATIVE - sign);
  }
}
