import { Point } from '@scure/starknet';

// Arithmetic on the Stark curve y^2 = x^3 + x + b, for points that are used for a long time: the generator, the Pedersen points
// and the publishers' keys. Intermediate coordinates may be negative, because `%` keeps the sign of its left side and a
// correction after each step would cost more. No function in this file is constant-time.

/** The prime of the field, 2^251 + 17 * 2^192 + 1. */
export const FIELD_PRIME = 0x800000000000011000000000000000000000000000000000000000000000001n;

/** The order n of the group. n is prime, so each point except infinity has this order. */
export const GROUP_ORDER = 0x800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn;

/** The number of bits of a scalar in 0 .. n-1. */
const SCALAR_BITS = 252;

export interface CurvePoint {
  readonly x: bigint;
  readonly y: bigint;
}

/** A point whose multiples can be added to a sum. */
export interface Multiplicand {
  /** Adds `scalar` times the point, or the negative of that product, to `sum`. The scalar is in 0 .. n-1. */
  addMultiple(sum: PointSum, scalar: bigint, negative: boolean): void;
}

/**
 * A sum of points in Jacobian coordinates. The sum is the point (x/z^2, y/z^3), or infinity while z is 0. In this form an
 * addition needs no division.
 */
export class PointSum {
  x = 1n;
  y = 1n;
  z = 0n;

  /** Adds the affine point (px, py) with 11 multiplications. */
  add(px: bigint, py: bigint): void {
    if (this.z === 0n) {
      this.x = px;
      this.y = py;
      this.z = 1n;
      return;
    }
    const zz = (this.z * this.z) % FIELD_PRIME;
    const h = (px * zz - this.x) % FIELD_PRIME;
    const r = (py * ((zz * this.z) % FIELD_PRIME) - this.y) % FIELD_PRIME;
    if (h === 0n) {
      // If the x coordinates are equal, the two points are the same or are negatives of each other. The formula below is
      // undefined for both cases.
      if (r === 0n) this.double();
      else this.z = 0n;
      return;
    }
    const hh = (h * h) % FIELD_PRIME;
    const hhh = (h * hh) % FIELD_PRIME;
    const v = (this.x * hh) % FIELD_PRIME;
    const x = (r * r - hhh - 2n * v) % FIELD_PRIME;
    this.y = (r * (v - x) - this.y * hhh) % FIELD_PRIME;
    this.x = x;
    this.z = (this.z * h) % FIELD_PRIME;
  }

  double(): void {
    const yy = (this.y * this.y) % FIELD_PRIME;
    const zz = (this.z * this.z) % FIELD_PRIME;
    const s = (4n * this.x * yy) % FIELD_PRIME;
    // The coefficient a of the curve is 1.
    const m = (3n * this.x * this.x + zz * zz) % FIELD_PRIME;
    const x = (m * m - 2n * s) % FIELD_PRIME;
    this.z = (2n * this.y * this.z) % FIELD_PRIME;
    this.y = (m * (s - x) - 8n * yy * yy) % FIELD_PRIME;
    this.x = x;
  }

  /** Checks that the sum is a point with this x, 0 <= x < p. The check needs no division. */
  hasX(x: bigint): boolean {
    return this.z !== 0n && (this.x - x * ((this.z * this.z) % FIELD_PRIME)) % FIELD_PRIME === 0n;
  }

  copy(): PointSum {
    const copy = new PointSum();
    copy.x = this.x;
    copy.y = this.y;
    copy.z = this.z;
    return copy;
  }

  /** Returns the sum as an affine point with coordinates in 0 .. p-1; `undefined` for infinity. The division takes 22 µs. */
  toAffine(): CurvePoint | undefined {
    return this.z === 0n ? undefined : affineOf(this, Point.Fp.inv(nonNegative(this.z)));
  }
}

/**
 * A point with a table of its multiples. With the table, a scalar costs one addition for each window and no doubling. The scalar
 * is written in signed digits of `windowBits`. Window i of the table contains the multiples 1 .. 2^(windowBits-1) of 2^(i *
 * windowBits) times the point. The first use of a window fills the window, which takes 3.5 µs for each point. A full table
 * contains 4,096 points (about 0.5 MB) with 8 bits, and 23,552 points with 11 bits.
 */
export class TabledPoint implements Multiplicand {
  readonly #point: CurvePoint;
  readonly #windowBits: number;
  /** The first point of each window, computed at the first use. Most processes use no Stark key. */
  #bases: readonly CurvePoint[] | undefined;
  /** The coordinates of each window: x and y of each point, in turn. */
  readonly #windows: (readonly bigint[] | undefined)[];

  constructor(point: CurvePoint, windowBits: number) {
    this.#point = point;
    this.#windowBits = windowBits;
    // The windows cover one bit more than a scalar, so that the last signed digit has no carry out of the table.
    const windows = Math.ceil((SCALAR_BITS + 1) / windowBits);
    this.#windows = new Array(windows).fill(undefined);
  }

  addMultiple(sum: PointSum, scalar: bigint, negative: boolean): void {
    const radix = 2 ** this.#windowBits;
    const shift = BigInt(this.#windowBits);
    let rest = scalar;
    let carry = 0;
    for (let window = 0; rest !== 0n || carry !== 0; window++) {
      let digit = Number(BigInt.asUintN(this.#windowBits, rest)) + carry;
      rest >>= shift;
      carry = digit > radix / 2 ? 1 : 0;
      if (carry === 1) digit -= radix;
      if (digit === 0) continue;
      const multiples = this.#window(window);
      const at = 2 * (Math.abs(digit) - 1);
      const y = multiples[at + 1]!;
      sum.add(multiples[at]!, digit < 0 === negative ? y : -y);
    }
  }

  /** Fills the first windows of the table, by default all. Yields after each window, so that the caller can do other work. */
  *fill(count = this.#windows.length): Generator<void> {
    for (let window = 0; window < count; window++) {
      this.#window(window);
      yield;
    }
  }

  #window(window: number): readonly bigint[] {
    const known = this.#windows[window];
    if (known !== undefined) return known;
    this.#bases ??= basesOf(this.#point, this.#windowBits, this.#windows.length);
    const multiples = multiplesOf(this.#bases[window]!, 2 ** (this.#windowBits - 1));
    this.#windows[window] = multiples;
    return multiples;
  }
}

/** A point without a table. A multiple takes 0.7 ms. */
export class PlainPoint implements Multiplicand {
  readonly #point: InstanceType<typeof Point>;

  constructor(point: CurvePoint) {
    this.#point = Point.fromAffine(point);
  }

  addMultiple(sum: PointSum, scalar: bigint, negative: boolean): void {
    const reduced = scalar % GROUP_ORDER;
    if (reduced === 0n) return;
    const { x, y } = this.#point.multiplyUnsafe(reduced).toAffine();
    sum.add(x, negative ? -y : y);
  }
}

/** The generator. The first multiples fill the 23 windows of its table, once for each thread. This takes 80 ms and 2.5 MB. */
export const GENERATOR = new TabledPoint(Point.BASE.toAffine(), 11);

/** Returns one of the two points with this x; `undefined` when the curve has no such point. The square root takes about 2 ms. */
export function pointWithX(x: bigint): CurvePoint | undefined {
  if (x >= FIELD_PRIME) return undefined;
  try {
    return Point.fromHex(`02${x.toString(16).padStart(64, '0')}`).toAffine();
  } catch {
    return undefined;
  }
}

function nonNegative(value: bigint): bigint {
  return value < 0n ? value + FIELD_PRIME : value;
}

function affineOf(sum: PointSum, zInverse: bigint): CurvePoint {
  const zz = (zInverse * zInverse) % FIELD_PRIME;
  return {
    x: nonNegative((sum.x * zz) % FIELD_PRIME),
    y: nonNegative((sum.y * ((zz * zInverse) % FIELD_PRIME)) % FIELD_PRIME),
  };
}

/** Returns the point times 2^(i * windowBits) for each window i. */
function basesOf(point: CurvePoint, windowBits: number, windows: number): CurvePoint[] {
  const bases = [point];
  while (bases.length < windows) {
    const sum = new PointSum();
    sum.add(bases.at(-1)!.x, bases.at(-1)!.y);
    for (let bit = 0; bit < windowBits; bit++) sum.double();
    bases.push(sum.toAffine()!);
  }
  return bases;
}

/**
 * Returns the multiples 1 .. count of the point, with x and y in turn. No multiple is infinity, because the order is a prime
 * above `count`.
 */
function multiplesOf(point: CurvePoint, count: number): bigint[] {
  const running = new PointSum();
  const sums = Array.from({ length: count }, () => {
    running.add(point.x, point.y);
    return running.copy();
  });
  // Montgomery's trick computes one inversion for all points. Then the factors are removed one by one from the end.
  const products: bigint[] = [];
  let product = 1n;
  for (const sum of sums) {
    products.push(product);
    product = (product * sum.z) % FIELD_PRIME;
  }
  let inverse = Point.Fp.inv(nonNegative(product));
  const multiples = new Array<bigint>(2 * count);
  for (let i = count - 1; i >= 0; i--) {
    const { x, y } = affineOf(sums[i]!, (inverse * products[i]!) % FIELD_PRIME);
    inverse = (inverse * sums[i]!.z) % FIELD_PRIME;
    multiples[2 * i] = x;
    multiples[2 * i + 1] = y;
  }
  return multiples;
}
