/**
 * Numbers of 256 bits as nine limbs of 29 bits, lowest limb first. With this size the 81 products of a multiplication can be added in 64
 * bits without a carry. In memory a limb takes 4 bytes.
 */
export const LIMBS = 9;
export const LIMB_BITS = 29;
export const LIMB_MASK = 2 ** LIMB_BITS - 1;
export const NUMBER_BYTES = 4 * LIMBS;
/** The number of bits of the highest limb. */
export const TOP_LIMB_BITS = 256 - LIMB_BITS * (LIMBS - 1);

export function limbsOf(value: bigint): readonly bigint[] {
  return Array.from({ length: LIMBS }, (_, i) => (value >> BigInt(LIMB_BITS * i)) & BigInt(LIMB_MASK));
}

/** Reads a number from 32 big-endian bytes. */
export function readNumber(bytes: Uint8Array, at: number, out: Int32Array, index: number): void {
  let carried = 0;
  let bits = 0;
  let limb = index;
  for (let i = at + 28; i >= at; i -= 4) {
    const word = (bytes[i]! << 24) | (bytes[i + 1]! << 16) | (bytes[i + 2]! << 8) | bytes[i + 3]!;
    out[limb++] = (carried | (word << bits)) & LIMB_MASK;
    const taken = LIMB_BITS - bits;
    carried = word >>> taken;
    bits = 32 - taken;
  }
  out[limb] = carried;
}

/** Returns the limb that contains a bit, and the bit's position in that limb. */
export function placeOfBit(bit: number): readonly [limb: number, shift: number] {
  const limb = Math.floor(bit / LIMB_BITS);
  return [limb, bit - limb * LIMB_BITS];
}

/**
 * Subtracts the modulus from a number if the number is at least the modulus. Both numbers have limbs below 2^29, and the number
 * is below twice the modulus.
 */
export function reduceOnce(limbs: Int32Array, index: number, modulus: readonly number[]): void {
  let i = LIMBS - 1;
  while (i > 0 && limbs[index + i] === modulus[i]) i -= 1;
  if (limbs[index + i]! < modulus[i]!) return;
  let borrowed = 0;
  for (i = 0; i < LIMBS; i++) {
    const value = limbs[index + i]! - modulus[i]! + borrowed;
    limbs[index + i] = value & LIMB_MASK;
    borrowed = value >> LIMB_BITS;
  }
}

/** Replaces a number by the modulus minus the number. The number must not be above the modulus. */
export function negate(limbs: Int32Array, index: number, modulus: readonly number[]): void {
  let borrowed = 0;
  for (let i = 0; i < LIMBS; i++) {
    const value = modulus[i]! - limbs[index + i]! + borrowed;
    limbs[index + i] = value & LIMB_MASK;
    borrowed = value >> LIMB_BITS;
  }
}

/** Moves the excess of each limb, which may be negative, to the next limb. Only the highest limb can stay outside of 0 .. 2^29 − 1. */
export function carry(limbs: Int32Array, index: number): void {
  for (let i = index; i < index + LIMBS - 1; i++) {
    limbs[i + 1]! += limbs[i]! >> LIMB_BITS;
    limbs[i]! &= LIMB_MASK;
  }
}

/** Returns 1 / value modulo 2^29 for an odd number, by Newton’s method. */
export function inverseModuloLimb(value: bigint): number {
  let inverse = 1n;
  for (let i = 0; i < 5; i++) inverse = BigInt.asUintN(LIMB_BITS, inverse * (2n - value * inverse));
  return Number(inverse);
}
