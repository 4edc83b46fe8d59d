import assert from 'node:assert/strict';
import {
  carry,
  LIMB_BITS,
  LIMBS,
  limbsOf,
  NUMBER_BYTES,
  negate,
  readNumber,
  reduceOnce,
  TOP_LIMB_BITS,
} from './limbs.js';
import { FIELD_PRIME, GROUP_ORDER, SCALAR_FACTOR } from './secp256k1_field_code.js';
import { GENERATOR_TABLE, Secp256k1Tables, SUMS_MAX } from './secp256k1_tables.js';

/** The largest number of signatures in a batch. */
export const BATCH_MAX = SUMS_MAX;

const PRIME = limbsOf(FIELD_PRIME).map(Number);
const ORDER = limbsOf(GROUP_ORDER).map(Number);

// The numbers of a signature: the digest, r, s, and the product of the s of all earlier signatures.
const [DIGEST, R, S, BEFORE] = [0, 1, 2, 3].map((i) => i * NUMBER_BYTES) as [number, number, number, number];
const SIGNATURE_BYTES = 4 * NUMBER_BYTES;
// The addresses of the batch's numbers.
const [ONE, TO_FACTOR, PRODUCT, REST, INVERSE, GENERATOR_PART, KEY_PART] = [0, 1, 2, 3, 4, 5, 6].map(
  (i) => i * NUMBER_BYTES,
) as [...[number, number, number], ...[number, number, number, number]];
const BATCH_BYTES = 7 * NUMBER_BYTES;

/**
 * Verifies many signatures with known keys at once. A signature is valid when the point digest/s · G + r/s · Q has r as its x, and the
 * point's y has the parity of the recovery number. A verification takes 33 % of the time of a recovery. Tables contain the multiples of
 * the keys, and all signatures share the divisions.
 */
export class EcdsaBatch {
  readonly #tables: Secp256k1Tables;
  readonly #batch: number;
  readonly #signatures: number;
  readonly #keys = new Array<number>(BATCH_MAX).fill(0);
  readonly #recoveries = new Array<number>(BATCH_MAX).fill(0);
  #count = 0;

  /** @param keysMax the largest number of known keys */
  constructor(keysMax: number) {
    const freeBytes = BATCH_BYTES + BATCH_MAX * SIGNATURE_BYTES;
    this.#tables = new Secp256k1Tables(1 + keysMax, freeBytes);
    this.#batch = this.#tables.freeFrom;
    this.#signatures = this.#batch + BATCH_BYTES;
    const { arithmetic } = this.#tables;
    arithmetic.write(this.#batch + ONE, SCALAR_FACTOR % GROUP_ORDER);
    arithmetic.write(this.#batch + TO_FACTOR, SCALAR_FACTOR ** 2n % GROUP_ORDER);
  }

  /**
   * Makes the table of a key. The new table replaces the table of the earlier key with the same number.
   * @param publicKey65 uncompressed, a point of the curve
   * @returns `false` if no table can be made, which happens for one key in 2^44. The caller must then add no signature with this
   * number
   */
  learn(key: number, publicKey65: Uint8Array): boolean {
    // With a new table, a waiting signature would be verified with the wrong key.
    assert(!this.#keys.slice(0, this.#count).includes(key));
    return this.#tables.fill(1 + key, publicKey65.subarray(1));
  }

  /**
   * Adds a signature to the batch, which has at most {@link BATCH_MAX} signatures.
   * @param rs64 r and s, each in 1 .. n - 1
   */
  add(key: number, digest32: Uint8Array, rs64: Uint8Array, recovery: 0 | 1): void {
    assert(this.#count < BATCH_MAX);
    const { limbs } = this.#tables.arithmetic;
    const at = this.#signatureAt(this.#count);
    readNumber(digest32, 0, limbs, (at + DIGEST) / 4);
    readNumber(rs64, 0, limbs, (at + R) / 4);
    readNumber(rs64, 32, limbs, (at + S) / 4);
    this.#keys[this.#count] = key;
    this.#recoveries[this.#count] = recovery;
    this.#count += 1;
  }

  get count(): number {
    return this.#count;
  }

  /** Removes the signatures without verifying them. */
  clear(): void {
    this.#count = 0;
  }

  /**
   * Returns one answer for each signature since the last call: true for a valid signature. Then removes the signatures. The
   * answer `true` is always right. The answer `false` may be wrong, because a signer can make a valid signature whose
   * verification adds two points with the same x. The batch cannot compute such a sum.
   */
  verify(): boolean[] {
    const count = this.#count;
    this.#count = 0;
    const answers: boolean[] = [];
    if (count === 0) return answers;
    this.#chooseMultiples(count);
    this.#tables.add(count);
    for (let i = 0; i < count; i++) answers.push(this.#isNoncePoint(i));
    return answers;
  }

  /** Divides by the s of each signature, with one inversion for all. */
  #chooseMultiples(count: number): void {
    const { arithmetic } = this.#tables;
    const { multiplyScalar } = arithmetic.module;
    const batch = this.#batch;
    let before = batch + ONE;
    for (let i = 0; i < count; i++) {
      const at = this.#signatureAt(i);
      multiplyScalar(at + S, at + S, batch + TO_FACTOR);
      arithmetic.copy(at + BEFORE, before);
      multiplyScalar(batch + PRODUCT, before, at + S);
      before = batch + PRODUCT;
    }
    arithmetic.invertScalar(batch + REST, batch + PRODUCT);
    for (let i = count - 1; i >= 0; i--) {
      const at = this.#signatureAt(i);
      multiplyScalar(batch + INVERSE, batch + REST, at + BEFORE);
      multiplyScalar(batch + REST, batch + REST, at + S);
      multiplyScalar(batch + GENERATOR_PART, at + DIGEST, batch + INVERSE);
      multiplyScalar(batch + KEY_PART, at + R, batch + INVERSE);
      this.#chooseMultiple(i, 0, GENERATOR_TABLE, batch + GENERATOR_PART);
      this.#chooseMultiple(i, 1, 1 + this.#keys[i]!, batch + KEY_PART);
    }
  }

  /** Chooses a multiple. The tables only accept odd factors. The negative of an even factor is odd, because n is odd. */
  #chooseMultiple(sum: number, part: 0 | 1, table: number, factor: number): void {
    const { limbs } = this.#tables.arithmetic;
    reduceOnce(limbs, factor / 4, ORDER);
    const isEven = (limbs[factor / 4]! & 1) === 0;
    if (isEven) negate(limbs, factor / 4, ORDER);
    this.#tables.choose(sum, part, table, factor, isEven ? 1 : 0);
  }

  #isNoncePoint(i: number): boolean {
    if (this.#tables.isWrong(i)) return false;
    const { limbs } = this.#tables.arithmetic;
    const x = this.#tables.pointOf(i) / 4;
    const y = x + LIMBS;
    const r = (this.#signatureAt(i) + R) / 4;
    reduceFully(limbs, x);
    for (let limb = 0; limb < LIMBS; limb++) if (limbs[x + limb] !== limbs[r + limb]) return false;
    reduceFully(limbs, y);
    return (limbs[y]! & 1) === this.#recoveries[i];
  }

  #signatureAt(i: number): number {
    return this.#signatures + i * SIGNATURE_BYTES;
  }
}

/** Reduces a field element to 0 .. p - 1, with limbs below 2^29. */
function reduceFully(limbs: Int32Array, index: number): void {
  carry(limbs, index);
  const top = limbs[index + LIMBS - 1]! >> TOP_LIMB_BITS;
  // Modulo p, 2^256 equals 2^32 + 977.
  limbs[index]! += 977 * top;
  limbs[index + 1]! += top << (32 - LIMB_BITS);
  limbs[index + LIMBS - 1]! -= top << TOP_LIMB_BITS;
  carry(limbs, index);
  reduceOnce(limbs, index, PRIME);
}
