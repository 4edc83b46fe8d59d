import { inverseModuloLimb, LIMB_BITS, LIMB_MASK, LIMBS, limbsOf, TOP_LIMB_BITS } from './limbs.js';
import {
  type Code,
  get,
  i64,
  i64Add,
  i64And,
  i64Load32,
  i64Multiply,
  i64ShiftLeft,
  i64ShiftRight,
  i64Store32,
  i64Subtract,
  set,
} from './wasm_code.js';

/** The prime of the field and the order of the group (SEC 2, section 2.4.1). */
export const FIELD_PRIME = 2n ** 256n - 2n ** 32n - 977n;
export const GROUP_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The locals that contain the limbs of a number. */
export type Number256 = readonly number[];

/** The locals for intermediate values of the reductions. */
export interface Scratch {
  readonly limbs: Number256;
  readonly carry: number;
}

/**
 * Returns the sum of all products of limbs with the weight 2^(29·k), without a carry. Limbs may be negative. The 9 products of a
 * column must fit in 63 bits. The largest factors are a reduced number and a sum of two reduced numbers. The columns of these
 * factors are below 2^62.01, because the highest limb has 24 bits.
 */
export type Column = (k: number) => Code;

export function product(a: Number256, b: Number256): Column {
  return (k) => sumOf(pairsOf(k).map(([i, j]) => i64Multiply(get(a[i]!), get(b[j]!))));
}

/**
 * Squares a number.
 * @param doubled twice the limbs of `a`
 */
export function square(a: Number256, doubled: Number256): Column {
  return (k) =>
    sumOf(
      pairsOf(k)
        .filter(([i, j]) => i <= j)
        .map(([i, j]) => i64Multiply(get((i < j ? doubled : a)[i]!), get(a[j]!))),
    );
}

/** Returns the pairs of limbs whose products belong to a column. */
function pairsOf(k: number): (readonly [number, number])[] {
  const first = Math.max(0, k - LIMBS + 1);
  return Array.from({ length: Math.min(k, LIMBS - 1) - first + 1 }, (_, n) => [first + n, k - first - n]);
}

const COLUMNS = 2 * LIMBS - 1;
const MASK = i64(BigInt(LIMB_MASK));
const lowOf = (value: Code): Code => i64And(value, MASK);
const highOf = (local: number): Code => i64ShiftRight(get(local), i64(BigInt(LIMB_BITS)));

/**
 * Writes columns, minus other numbers, into `out` modulo p, where 2^256 equals 2^32 + 977. The result is between -2^70 and 2^256
 * + 2^70. The limbs of the result are in 0 .. 2^29 - 1, except the third limb, which may be up to 2^12 outside of this range.
 * @param less the numbers to subtract in each of the lower columns
 */
export function reduceToField(
  out: Number256,
  column: Column,
  { limbs: high, carry }: Scratch,
  less: (k: number) => readonly Code[] = () => [],
): Code {
  const code: Code[] = [];
  for (let k = LIMBS; k < COLUMNS; k++) {
    const value = k === LIMBS ? column(k) : i64Add(column(k), highOf(carry));
    code.push(set(carry, value), set(high[k - LIMBS]!, lowOf(get(carry))));
  }
  code.push(set(high[LIMBS - 1]!, highOf(carry)));
  // A high limb has the weight of 2^261 times the limb nine places below. Modulo p, 2^261 equals 2^37 + 31,264. So the high limb
  // adds 31,264 times its value to that limb, and 2^8 times its value to the next limb.
  for (let k = 0; k < LIMBS; k++) {
    let value = i64Add(column(k), i64Multiply(get(high[k]!), i64(977n << EXCESS)));
    if (k > 0) {
      const next = i64ShiftLeft(get(high[k - 1]!), i64(32n + EXCESS - BigInt(LIMB_BITS)));
      value = i64Add(value, i64Add(next, highOf(carry)));
    }
    code.push(set(carry, less(k).reduce(i64Subtract, value)));
    if (k < LIMBS - 1) code.push(set(out[k]!, lowOf(get(carry))));
  }
  // The part of the number that is now above 2^256.
  const top = high[0]!;
  const beyond = i64ShiftLeft(get(high[LIMBS - 1]!), i64(32n + 2n * EXCESS - BigInt(LIMB_BITS)));
  code.push(
    set(out[LIMBS - 1]!, i64And(get(carry), i64(2n ** BigInt(TOP_LIMB_BITS) - 1n))),
    set(top, i64Add(i64ShiftRight(get(carry), i64(BigInt(TOP_LIMB_BITS))), beyond)),
    set(carry, i64Add(get(out[0]!), i64Multiply(get(top), i64(977n)))),
    set(out[0]!, lowOf(get(carry))),
    set(
      carry,
      i64Add(i64Add(get(out[1]!), i64ShiftLeft(get(top), i64(32n - BigInt(LIMB_BITS)))), highOf(carry)),
    ),
    set(out[1]!, lowOf(get(carry))),
    set(out[2]!, i64Add(get(out[2]!), highOf(carry))),
  );
  return code;
}

/** The number of bits by which nine limbs exceed 256 bits. */
const EXCESS = BigInt(LIMB_BITS * LIMBS - 256);

/**
 * Writes columns into `out` modulo n, divided by {@link SCALAR_FACTOR} (Montgomery's reduction). The result is below 1.04 n. The
 * factors must also be below 1.04 n, which holds for all numbers below 2^256.
 */
export function reduceToScalar(out: Number256, column: Column, { limbs: quotient, carry }: Scratch): Code {
  const code: Code[] = [];
  for (let k = 0; k < COLUMNS; k++) {
    let value = k === 0 ? column(k) : i64Add(column(k), highOf(carry));
    for (const [i, j] of pairsOf(k))
      if (i < k) value = i64Add(value, i64Multiply(get(quotient[i]!), i64(ORDER[j]!)));
    code.push(set(carry, value));
    if (k >= LIMBS) {
      code.push(set(out[k - LIMBS]!, lowOf(get(carry))));
      continue;
    }
    // The multiple of n that makes the lowest remaining limb 0.
    code.push(
      set(quotient[k]!, lowOf(i64Multiply(lowOf(get(carry)), i64(NEGATIVE_INVERSE)))),
      set(carry, i64Add(get(carry), i64Multiply(get(quotient[k]!), i64(ORDER[0]!)))),
    );
  }
  code.push(set(out[LIMBS - 1]!, highOf(carry)));
  return code;
}

/** Montgomery's factor R. */
export const SCALAR_FACTOR = 2n ** BigInt(LIMB_BITS * LIMBS);
const ORDER = limbsOf(GROUP_ORDER);
const NEGATIVE_INVERSE = BigInt(2 ** LIMB_BITS - inverseModuloLimb(GROUP_ORDER));

export function load(out: Number256, address: Code, offset = 0): Code {
  return out.map((local, i) => set(local, i64Load32(address, offset + 4 * i)));
}

export function store(address: Code, value: Number256, offset = 0): Code {
  return value.map((local, i) => i64Store32(address, get(local), offset + 4 * i));
}

export function copy(out: Number256, value: Number256): Code {
  return out.map((local, i) => set(local, get(value[i]!)));
}

export function double(out: Number256, value: Number256): Code {
  return out.map((local, i) => set(local, i64ShiftLeft(get(value[i]!), i64(1n))));
}

function sumOf(values: readonly Code[]): Code {
  return values.reduce(i64Add);
}
