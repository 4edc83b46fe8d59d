import { STARK_FIELD_PRIME } from '../../wire/signatures.js';
import { inverse, reduce } from './modular_inverse.js';

// Arithmetic on the Stark curve, y^2 = x^3 + x + b. The group of the curve has prime order. Points are homogeneous (x/z,
// y/z), and the same formula adds any two points: Algorithm 1 of Renes, Costello, Batina, "Complete addition formulas for
// prime order elliptic curves" (2015). Coordinates may be negative between steps, because `%` keeps the sign.

/** The field's prime, 2^251 + 17 * 2^192 + 1. */
export const FIELD_PRIME = STARK_FIELD_PRIME;
/** The order n of the group. */
export const GROUP_ORDER: bigint = 0x800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn;

export interface AffinePoint {
  readonly x: bigint;
  readonly y: bigint;
}

/** A point; z is 0 at infinity. */
type Point = readonly [x: bigint, y: bigint, z: bigint];

/** The coefficients of a curve: a, and 3 times b. */
interface Curve {
  readonly a: bigint;
  readonly b3: bigint;
}

const B = 3141592653589793238462643383279502884197169399375105820974944592307816406665n;
const STARK: Curve = { a: 1n, b3: 3n * B };
const INFINITY: Point = [0n, 1n, 0n];
const WINDOW_BITS = 4n;
const WINDOW_SIZE = 1 << Number(WINDOW_BITS);
/** The number of windows of a scalar of 252 bits. */
const WINDOWS = 63;

/** A point with a table of its multiples. The table is made at the first use (63 KB, 10 ms). */
export class FixedPoint {
  readonly #point: Point;
  #windows: readonly (readonly Point[])[] | undefined;

  constructor({ x, y }: AffinePoint) {
    this.#point = [x, y, 1n];
  }

  /** Adds `scalar` (below 2^252) times this point to `sum`, with the same number of steps for each scalar. */
  addMultiple(sum: Sum, scalar: bigint): void {
    this.#windows ??= windowsOf(this.#point);
    let rest = scalar;
    for (const window of this.#windows) {
      sum.point = add(sum.point, window[Number(rest & 15n)]!, STARK);
      rest >>= WINDOW_BITS;
    }
  }
}

/** A sum of points. Callers add points to it. */
export class Sum {
  point: Point = INFINITY;

  add({ x, y }: AffinePoint): void {
    this.point = add(this.point, [x, y, 1n], STARK);
  }

  /** Returns the x coordinate, 0 .. p-1; `undefined` at infinity. */
  toX(): bigint | undefined {
    const [x, , z] = this.point;
    return z % FIELD_PRIME === 0n ? undefined : reduce(x * inverse(z, FIELD_PRIME), FIELD_PRIME);
  }
}

/** The generator of the group. */
export const GENERATOR = new FixedPoint({
  x: 874739451078007766457464989774322083649278607533249481151382481072868806602n,
  y: 152666792071518830868575557812948353041420400780739481342941381225525861407n,
});

/**
 * Returns whether `r` is the x coordinate of `sum` plus or minus `scalar` times a point. The argument `x` is the x coordinate of
 * this point.
 * @param scalar 1 .. n-1
 */
export function isSumWithMultiple(sum: Sum, x: bigint, scalar: bigint, r: bigint): boolean {
  const x2 = multipleX(x, scalar);
  if (x2 === undefined) return false;
  const x1 = sum.toX();
  if (x1 === undefined) return r === x2;
  // The x coordinates of the sum and of the difference of two points are the roots of this polynomial.
  const difference = x1 - x2;
  const product = x1 * x2;
  const half = (x1 + x2) * (product + 1n) + 2n * B;
  const last = (product - 1n) ** 2n - 4n * B * (x1 + x2);
  return (difference * difference * r * r - 2n * half * r + last) % FIELD_PRIME === 0n;
}

/**
 * Returns the x coordinate of a multiple of the point with the coordinate `x`; `undefined` when the curve has no such point.
 *
 * No square root is needed. With t = x^3 + x + b, the point (x t, t^2) lies on y^2 = x^3 + t^2 x + t^3 b. This is the same curve
 * in other coordinates (times t and times t^1.5) exactly when t is a square.
 */
function multipleX(x: bigint, scalar: bigint): bigint | undefined {
  const t = (x * x * x + x + B) % FIELD_PRIME;
  if (powerInField(t, (FIELD_PRIME - 1n) / 2n) !== 1n) return undefined;
  const tt = (t * t) % FIELD_PRIME;
  const curve = { a: tt, b3: (3n * B * tt * t) % FIELD_PRIME };
  const point: Point = [(x * t) % FIELD_PRIME, tt, 1n];
  let multiple = INFINITY;
  for (const bit of scalar.toString(2)) {
    multiple = add(multiple, multiple, curve);
    if (bit === '1') multiple = add(multiple, point, curve);
  }
  return reduce(multiple[0] * inverse(multiple[2] * t, FIELD_PRIME), FIELD_PRIME);
}

function powerInField(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = (result * result) % FIELD_PRIME;
    if (bit === '1') result = (result * base) % FIELD_PRIME;
  }
  return result;
}

function add([x1, y1, z1]: Point, [x2, y2, z2]: Point, { a, b3 }: Curve): Point {
  const p = FIELD_PRIME;
  const xx = (x1 * x2) % p;
  const yy = (y1 * y2) % p;
  const zz = (z1 * z2) % p;
  const xy = ((x1 + y1) * (x2 + y2) - xx - yy) % p;
  const xz = ((x1 + z1) * (x2 + z2) - xx - zz) % p;
  const yz = ((y1 + z1) * (y2 + z2) - yy - zz) % p;
  const azz = (a * zz) % p;
  const m = (b3 * zz + a * xz) % p;
  const w = 3n * xx + azz;
  const q = (b3 * xz + a * (xx - azz)) % p;
  const u = yy - m;
  const v = yy + m;
  return [(xy * u - yz * q) % p, (u * v + w * q) % p, (yz * v + xy * w) % p];
}

function windowsOf(point: Point): Point[][] {
  const windows: Point[][] = [];
  let base = point;
  for (let i = 0; i < WINDOWS; i += 1) {
    const multiples: Point[] = [INFINITY];
    for (let digit = 1; digit < WINDOW_SIZE; digit += 1)
      multiples.push(add(multiples[digit - 1]!, base, STARK));
    windows.push(multiples);
    base = add(multiples[WINDOW_SIZE - 1]!, base, STARK);
  }
  return windows;
}
