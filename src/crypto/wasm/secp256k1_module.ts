import { LIMB_BITS, LIMBS, NUMBER_BYTES } from './limbs.js';
import {
  copy,
  double,
  FIELD_PRIME,
  load,
  type Number256,
  product,
  reduceToField,
  reduceToScalar,
  type Scratch,
  square,
  store,
} from './secp256k1_field_code.js';
import { divideFunction } from './secp256k1_inversion_code.js';
import {
  type Code,
  doWhile,
  get,
  i32,
  i32Add,
  i32And,
  i32Load,
  i32Or,
  i32ShiftLeft,
  i32Subtract,
  i64,
  i64Add,
  i64And,
  i64IsEqual,
  i64Load32,
  i64Multiply,
  i64Of,
  i64ShiftLeft,
  i64Store32,
  i64Subtract,
  locals,
  openWasm,
  set,
  type WasmFunction,
  when,
} from './wasm_code.js';

/** The size of a point: x and then y. */
export const POINT_BYTES = 2 * NUMBER_BYTES;
/** The size of a reference to a point. A reference is the address of the point, plus {@link NEGATIVE} for the negative of the point. */
export const REFERENCE_BYTES = 4;
export const NEGATIVE = 1;
/** The mark that `multiplyDifferences` sets on the first reference of a pair whose sum will be wrong. */
export const DOUBTFUL = 2;

/**
 * The exports of the module. All arguments are counts, or addresses in the module's memory. Field elements have the form
 * that {@link reduceToField} writes. Scalars have the form that {@link reduceToScalar} writes.
 */
export interface Secp256k1Module {
  readonly memory: { readonly buffer: ArrayBuffer };
  multiply(out: number, a: number, b: number): void;
  /** Squares a number `times` times. */
  square(out: number, a: number, times: number): void;
  /** Multiplies a and b, and divides by Montgomery’s factor. */
  multiplyScalar(out: number, a: number, b: number): void;
  squareScalar(out: number, a: number, times: number): void;
  /**
   * Computes the first half of the sums of pairs of points: the products of the differences of their x. {@link addPairs} needs
   * the inverse of the last product. Marks a pair of two points with the same x as {@link DOUBTFUL}. Once in 2^56, marks another
   * pair too.
   * @param references two references for each pair, without marks
   * @param products the first product is 1; the product after pair i is written at index i + 1
   */
  multiplyDifferences(references: number, pairs: number, products: number): void;
  /**
   * Computes the second half: writes the sum of each pair. Only the sum of a {@link DOUBTFUL} pair is wrong, and a forger can
   * predict this sum.
   * @param references the references of the last pair
   * @param products the product before the last pair
   * @param inverse the inverse of the product of all differences; the function overwrites this number
   * @param sums the address for the sum of the last pair
   */
  addPairs(references: number, pairs: number, products: number, inverse: number, sums: number): void;
  /** Does the steps of an inversion; see {@link divideFunction}. */
  divide(numbers: number, modulus: number, inverse: number): void;
}

/**
 * Opens the arithmetic of the curve secp256k1 in WebAssembly. This file generates the bytes of the module. The arithmetic is for
 * public numbers only. With secret numbers, the secret would decide which points are read, and another process may be able to
 * observe these reads.
 * @param pages see {@link openWasm}
 */
export function openSecp256k1Module(pages: number): Secp256k1Module {
  const functions = [
    multiplyFunction('multiply', reduceToField),
    squareFunction('square', reduceToField),
    multiplyFunction('multiplyScalar', reduceToScalar),
    squareFunction('squareScalar', reduceToScalar),
    multiplyDifferencesFunction(),
    addPairsFunction(),
    divideFunction(),
  ];
  return openWasm(functions, pages) as Secp256k1Module;
}

/** The lowest two limbs of a difference of two reduced numbers, if the difference is 0, p or -p. */
const DOUBTFUL_DIFFERENCES = [0n, FIELD_PRIME, -FIELD_PRIME].map((value) =>
  BigInt.asUintN(2 * LIMB_BITS, value),
);

type Reduce = (out: Number256, column: (k: number) => Code, scratch: Scratch) => Code;

/** Returns `count` numbers in the locals from `first` on. The next locals are the scratch locals of the reductions. */
function numbers(first: number, count: number): { all: Number256[]; scratch: Scratch; variables: number } {
  const all = Array.from({ length: count }, (_, i) => locals(first + i * LIMBS, LIMBS));
  const end = first + count * LIMBS;
  const scratch = { limbs: locals(end, LIMBS), carry: end + LIMBS };
  return { all, scratch, variables: (count + 1) * LIMBS + 1 };
}

function multiplyFunction(name: string, reduce: Reduce): WasmFunction {
  const [out, left, right] = [0, 1, 2];
  const { all, scratch, variables } = numbers(3, 3);
  const [a, b, result] = all as [Number256, Number256, Number256];
  const body = [
    load(a, get(left)),
    load(b, get(right)),
    reduce(result, product(a, b), scratch),
    store(get(out), result),
  ];
  return { name, parameters: 3, i32Variables: 0, i64Variables: variables, body };
}

function squareFunction(name: string, reduce: Reduce): WasmFunction {
  const [out, from, times] = [0, 1, 2];
  const { all, scratch, variables } = numbers(3, 3);
  const [a, doubled, result] = all as [Number256, Number256, Number256];
  const once = [
    double(doubled, a),
    reduce(result, square(a, doubled), scratch),
    copy(a, result),
    set(times, i32Subtract(get(times), i32(1))),
  ];
  const body = [load(a, get(from)), doWhile(once, get(times)), store(get(out), a)];
  return { name, parameters: 3, i32Variables: 0, i64Variables: variables, body };
}

function multiplyDifferencesFunction(): WasmFunction {
  const [references, pairs, products, left, right] = [0, 1, 2, 3, 4];
  const { all, scratch, variables } = numbers(5, 3);
  const [soFar, difference, result] = all as [Number256, Number256, Number256];
  const forPair = [
    set(left, addressAt(references, 0)),
    set(right, addressAt(references, 1)),
    differenceOfX(difference, right, left),
    when(isDoubtful(difference), oneInstead(difference), markDoubtful(references)),
    reduceToField(result, product(soFar, difference), scratch),
    copy(soFar, result),
    store(get(products), soFar, NUMBER_BYTES),
    set(products, i32Add(get(products), i32(NUMBER_BYTES))),
    set(references, i32Add(get(references), i32(2 * REFERENCE_BYTES))),
    set(pairs, i32Subtract(get(pairs), i32(1))),
  ];
  const body = [load(soFar, get(products)), doWhile(forPair, get(pairs))];
  return {
    name: 'multiplyDifferences',
    parameters: 3,
    i32Variables: 2,
    i64Variables: variables,
    body,
  };
}

function addPairsFunction(): WasmFunction {
  const [references, pairs, products, inverse, sums, left, right] = [0, 1, 2, 3, 4, 5, 6];
  const [leftSign, rightSign] = [7, 8];
  const { all, scratch, variables } = numbers(9, 7);
  const [rest, before, difference, own, slope, result, other] = all as [
    ...[Number256, Number256, Number256, Number256],
    ...[Number256, Number256, Number256],
  ];
  const xOf = (point: number, k: number) => i64Load32(get(point), 4 * k);
  const yOf = (point: number, sign: number, k: number) =>
    i64Multiply(i64Load32(get(point), NUMBER_BYTES + 4 * k), get(sign));
  const forPair = [
    set(left, addressAt(references, 0)),
    set(right, addressAt(references, 1)),
    set(leftSign, signAt(references, 0)),
    set(rightSign, signAt(references, 1)),
    // The inverse of this pair's difference is the inverse of the product up to this pair, times the product before this pair.
    load(before, get(products)),
    differenceOfX(difference, right, left),
    when(isDoubtful(difference), oneInstead(difference)),
    reduceToField(own, product(rest, before), scratch),
    reduceToField(result, product(rest, difference), scratch),
    copy(rest, result),
    other.map((local, k) => set(local, i64Subtract(yOf(right, rightSign, k), yOf(left, leftSign, k)))),
    reduceToField(slope, product(own, other), scratch),
    double(own, slope),
    // x = slope² − x_left − x_right; y = slope · (x_left − x) − y_left.
    reduceToField(result, square(slope, own), scratch, (k) => [xOf(left, k), xOf(right, k)]),
    store(get(sums), result),
    other.map((local, k) => set(local, i64Subtract(xOf(left, k), get(result[k]!)))),
    reduceToField(result, product(slope, other), scratch, (k) => [yOf(left, leftSign, k)]),
    store(get(sums), result, NUMBER_BYTES),
    set(references, i32Subtract(get(references), i32(2 * REFERENCE_BYTES))),
    set(products, i32Subtract(get(products), i32(NUMBER_BYTES))),
    set(sums, i32Subtract(get(sums), i32(POINT_BYTES))),
    set(pairs, i32Subtract(get(pairs), i32(1))),
  ];
  const body = [load(rest, get(inverse)), doWhile(forPair, get(pairs))];
  return {
    name: 'addPairs',
    parameters: 5,
    i32Variables: 2,
    i64Variables: 2 + variables,
    body,
  };
}

function addressAt(references: number, index: number): Code {
  return i32And(i32Load(get(references), index * REFERENCE_BYTES), i32(~(NEGATIVE | DOUBTFUL)));
}

function markDoubtful(references: number): Code {
  return i64Store32(get(references), i64Of(i32Or(i32Load(get(references)), i32(DOUBTFUL))));
}

/** Returns 1, or -1 for a negative point. */
function signAt(references: number, index: number): Code {
  const isNegative = i32And(i32Load(get(references), index * REFERENCE_BYTES), i32(NEGATIVE));
  return i64Subtract(i64(1n), i64Of(i32ShiftLeft(isNegative, i32(1))));
}

function differenceOfX(out: Number256, right: number, left: number): Code {
  return out.map((local, k) =>
    set(local, i64Subtract(i64Load32(get(right), 4 * k), i64Load32(get(left), 4 * k))),
  );
}

function isDoubtful(difference: Number256): Code {
  const [low, high] = [get(difference[0]!), get(difference[1]!)];
  const value = i64And(
    i64Add(low, i64ShiftLeft(high, i64(BigInt(LIMB_BITS)))),
    i64(2n ** BigInt(2 * LIMB_BITS) - 1n),
  );
  return DOUBTFUL_DIFFERENCES.map((doubtful) => i64IsEqual(value, i64(doubtful))).reduce(i32Or);
}

function oneInstead(value: Number256): Code {
  return value.map((local, k) => set(local, i64(k === 0 ? 1n : 0n)));
}
