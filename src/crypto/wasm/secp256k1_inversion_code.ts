import { LIMB_BITS, LIMB_MASK, LIMBS, NUMBER_BYTES } from './limbs.js';
import {
  type Code,
  doWhile,
  get,
  i32,
  i32Add,
  i32And,
  i32IsLess,
  i32Load,
  i32Multiply,
  i32Or,
  i32ShiftLeft,
  i32ShiftRightUnsigned,
  i32Subtract,
  i32TrailingZeros,
  i64,
  i64Add,
  i64And,
  i64IsUnequal,
  i64Load32,
  i64Multiply,
  i64Of,
  i64Or,
  i64ShiftRight,
  i64Store32,
  i64Subtract,
  set,
  type WasmFunction,
  when,
} from './wasm_code.js';

/** The offsets of the four numbers of an inversion. */
export const [D, E, F, G] = [0, 1, 2, 3].map((i) => i * NUMBER_BYTES) as [number, number, number, number];
/** The size of the four numbers. */
export const INVERSION_BYTES = 4 * NUMBER_BYTES;

/** The number of division steps between two updates of the numbers. */
const STEPS = LIMB_BITS;
/** The bits that one pass can clear: for these bits, `f · (f² − 2)` equals `−1 / f`. */
const PASS_MASK = 63;

// The locals of the function: the parameters, the i32 variables, and the i64 variables.
const [numbers, modulus, inverse] = [0, 1, 2];
const [eta, left, f, g, count, factor] = [3, 4, 5, 6, 7, 8];
const [u, v, q, r] = [9, 10, 11, 12];
const [wideU, wideV, wideQ, wideR] = [13, 14, 15, 16];
const [upper, lower, upperFold, lowerFold, one, other, rest] = [17, 18, 19, 20, 21, 22, 23];
const I32_VARIABLES = 10;
const I64_VARIABLES = 11;

const ZERO = i64(0n);
const lowOf = (value: Code): Code => i64And(value, i64(BigInt(LIMB_MASK)));
const shifted = (local: number): Code => i64ShiftRight(get(local), i64(BigInt(LIMB_BITS)));

/**
 * The loop of an inversion by division steps (Bernstein and Yang, https://gcd.cr.yp.to/safegcd-20190413.pdf), in the variant of
 * libsecp256k1 whose time depends on the number. The loop takes a quarter of the time of an exponentiation.
 *
 * At the start, f is the odd modulus, g is the number, d is 0 and e is 1. Each step keeps the greatest common divisor of f and g, and
 * keeps `d · number = f` and `e · number = g` modulo the modulus. At the end g is 0 and f is 1 or −1, so d is the inverse or its negative;
 * d is between −2 and 1 times the modulus. f and g never grow, and all sums stay below 2^61, so the limbs of the number may be slightly
 * outside of 0 .. 2^29 − 1, except the lowest limb.
 *
 * The parameters are the address of the numbers, the address of the modulus, and 1 / modulus modulo 2^29.
 */
export function divideFunction(): WasmFunction {
  const round = [divisionSteps(), replaceDivisors(), replaceNumbers()];
  const body = [set(eta, i32(-1)), doWhile(round, i64IsUnequal(get(rest), ZERO))];
  return { name: 'divide', parameters: 3, i32Variables: I32_VARIABLES, i64Variables: I64_VARIABLES, body };
}

/**
 * Does {@link STEPS} steps with the lowest limbs of f and g. The next f is then `(u · f + v · g) / 2^STEPS`, and the next g is
 * `(q · f + r · g) / 2^STEPS`. The sums |u| + |v| and |q| + |r| are at most 2^STEPS.
 */
function divisionSteps(): Code {
  const swapWithNegative = (a: number, b: number) => [
    set(factor, get(a)),
    set(a, get(b)),
    set(b, i32Subtract(i32(0), get(factor))),
  ];
  const minusInverse = i32Multiply(get(f), i32Subtract(i32Multiply(get(f), get(f)), i32(2)));
  const countMask = i32ShiftRightUnsigned(i32(-1), i32Subtract(i32(32), get(count)));
  const clearBits = [
    when(
      i32IsLess(get(eta), i32(0)),
      set(eta, i32Subtract(i32(0), get(eta))),
      swapWithNegative(f, g),
      swapWithNegative(u, q),
      swapWithNegative(v, r),
    ),
    set(count, i32Add(get(eta), i32(1))),
    when(i32IsLess(get(left), get(count)), set(count, get(left))),
    set(factor, i32And(i32Multiply(get(g), minusInverse), i32And(countMask, i32(PASS_MASK)))),
    [
      [g, f],
      [q, u],
      [r, v],
    ].map(([to, from]) => set(to!, i32Add(get(to!), i32Multiply(get(from!), get(factor))))),
  ];
  const pass = [
    set(count, i32TrailingZeros(i32Or(get(g), i32ShiftLeft(i32(-1), get(left))))),
    set(g, i32ShiftRightUnsigned(get(g), get(count))),
    [u, v].map((local) => set(local, i32ShiftLeft(get(local), get(count)))),
    [eta, left].map((local) => set(local, i32Subtract(get(local), get(count)))),
    when(get(left), clearBits),
  ];
  return [
    set(left, i32(STEPS)),
    [u, r].map((local) => set(local, i32(1))),
    [v, q].map((local) => set(local, i32(0))),
    set(f, i32Load(get(numbers), F)),
    set(g, i32Load(get(numbers), G)),
    doWhile(pass, get(left)),
    set(wideU, i64Of(get(u))),
    set(wideV, i64Of(get(v))),
    set(wideQ, i64Of(get(q))),
    set(wideR, i64Of(get(r))),
  ];
}

/** Replaces d and e. Adds multiples of the modulus that make the lowest {@link STEPS} bits of the sums 0. */
function replaceDivisors(): Code {
  const signOf = (offset: number) => i64ShiftRight(limbOf(offset, LIMBS - 1), i64(63n));
  const fold = (out: number, sum: number, a: number, b: number) => [
    // A negative d or e adds the modulus once, which keeps both within −2 and 1 times the modulus.
    set(out, i64Add(i64And(get(a), signOf(D)), i64And(get(b), signOf(E)))),
    set(out, i64Subtract(get(out), lowOf(i64Add(i64Multiply(i64Of(get(inverse)), get(sum)), get(out))))),
  ];
  const folds = [fold(upperFold, upper, wideU, wideV), fold(lowerFold, lower, wideQ, wideR)];
  const multiple = (k: number, factorOf: number) =>
    i64Multiply(i64Load32(get(modulus), 4 * k), get(factorOf));
  return replacePair(D, E, (k) => [
    k === 0 ? folds : [],
    set(upper, i64Add(get(upper), multiple(k, upperFold))),
    set(lower, i64Add(get(lower), multiple(k, lowerFold))),
  ]);
}

/** Replaces f and g. Then `rest` is 0 if g is 0. */
function replaceNumbers(): Code {
  return [
    replacePair(F, G),
    set(rest, limbOf(G, 0)),
    Array.from({ length: LIMBS - 1 }, (_, k) => set(rest, i64Or(get(rest), limbOf(G, k + 1)))),
  ];
}

/** @param addMore returns code that adds to the sums of a limb */
function replacePair(first: number, second: number, addMore: (k: number) => Code = () => []): Code {
  const addProducts = (sum: number, a: number, b: number) =>
    set(sum, i64Add(get(sum), i64Add(i64Multiply(get(a), get(one)), i64Multiply(get(b), get(other)))));
  const storeLimb = (k: number, limb: (sum: number) => Code) => [
    i64Store32(get(numbers), limb(upper), first + 4 * k),
    i64Store32(get(numbers), limb(lower), second + 4 * k),
  ];
  const limbs = Array.from({ length: LIMBS }, (_, k) => [
    set(one, limbOf(first, k)),
    set(other, limbOf(second, k)),
    addProducts(upper, wideU, wideV),
    addProducts(lower, wideQ, wideR),
    addMore(k),
    k === 0 ? [] : storeLimb(k - 1, (sum) => lowOf(get(sum))),
    [upper, lower].map((sum) => set(sum, shifted(sum))),
  ]);
  return [[upper, lower].map((sum) => set(sum, ZERO)), limbs, storeLimb(LIMBS - 1, get)];
}

function limbOf(offset: number, k: number): Code {
  return i64Load32(get(numbers), offset + 4 * k);
}
