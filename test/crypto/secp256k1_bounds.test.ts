import { test } from 'tap';
import { LIMB_BITS, LIMB_MASK, LIMBS, NUMBER_BYTES, TOP_LIMB_BITS } from '../../src/crypto/wasm/limbs.js';
import {
  GROUP_ORDER as N,
  FIELD_PRIME as P,
  SCALAR_FACTOR,
} from '../../src/crypto/wasm/secp256k1_field_code.js';
import { openSecp256k1Module } from '../../src/crypto/wasm/secp256k1_module.js';
import { type Interval, isWithin, join, parseFunctions, runWithIntervals } from './wasm_intervals.js';

// Proves from the module's instructions that no sum overflows. Interval arithmetic covers all inputs.

const functions = parseFunctions(moduleBytes());

/** The known bounds of a number, as the intervals of its limbs. */
type Bounds = readonly Interval[];

/** The bounds of the 256 bits of a number when it is written or read. */
const PLAIN: Bounds = Array.from({ length: LIMBS }, (_, i) => [
  0n,
  i < LIMBS - 1 ? BigInt(LIMB_MASK) : 2n ** BigInt(TOP_LIMB_BITS) - 1n,
]);
const ONE: Bounds = PLAIN.map((_, i) => (i === 0 ? [1n, 1n] : [0n, 0n]));

function moduleBytes(): Uint8Array {
  const global = globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } };
  const { Module } = global.WebAssembly;
  let taken = new Uint8Array();
  global.WebAssembly.Module = class extends Module {
    constructor(bytes: Uint8Array) {
      super(bytes);
      taken = Uint8Array.from(bytes);
    }
  };
  openSecp256k1Module(1);
  global.WebAssembly.Module = Module;
  return taken;
}

/**
 * Returns the bounds of a function's results. The numbers and coordinates in its arguments have the bounds `given`. The second
 * argument of a multiplication has the bounds `second`.
 */
function resultOf(name: string, given: Bounds, second = given): { bounds: Bounds; largest: bigint } {
  const bounds = new Array<Interval | undefined>(LIMBS).fill(undefined);
  const largest = runWithIntervals(functions.get(name)!, {
    load: (local, offset) => (local === 2 ? second : given)[(offset % NUMBER_BYTES) / 4]!,
    store(local, offset, value) {
      // The flag of a reference is not a limb.
      if (name === 'multiplyDifferences' && local === 0) return;
      const limb = (offset % NUMBER_BYTES) / 4;
      bounds[limb] = join(bounds[limb] ?? value, value);
    },
  });
  return { bounds: bounds.map((interval) => interval!), largest };
}

/** Returns common bounds for the results of all functions. Each function also accepts numbers within these bounds. */
function closure(names: readonly string[]): { bounds: Bounds; largest: bigint } {
  let bounds = PLAIN;
  for (;;) {
    const results = names.map((name) => resultOf(name, bounds));
    const grown = bounds.map((interval, i) => results.map((one) => one.bounds[i]!).reduce(join, interval));
    const largest = results.map((one) => one.largest).reduce((a, b) => (a > b ? a : b));
    if (areWithin(grown, bounds)) return { bounds, largest };
    bounds = grown;
  }
}

function areWithin(bounds: Bounds, others: Bounds): boolean {
  return bounds.every((interval, i) => isWithin(interval, others[i]!));
}

function rangeOf(bounds: Bounds): Interval {
  const sum = (end: 0 | 1) =>
    bounds.reduce((total, interval, i) => total + interval[end] * 2n ** BigInt(LIMB_BITS * i), 0n);
  return [sum(0), sum(1)];
}

test('numbers of the field: no sum overflows, and the third limb is at most 2^12 outside', async (t) => {
  const { bounds, largest } = closure(['multiply', 'square', 'multiplyDifferences', 'addPairs']);
  t.ok(largest < 2n ** 62n + 2n ** 55n, `the largest sum is ${largest}`);
  const beyond = 2n ** 12n - 1n;
  const wanted = PLAIN.map(
    ([least, most], i): Interval => (i === 2 ? [least - beyond, most + beyond] : [least, most]),
  );
  t.ok(areWithin(bounds, wanted), bounds.join(' '));
  // The slope of two points stays in locals. The slope is the sum or difference of two y, times a reduced number.
  const sumOfTwo = bounds.map(([, b]): Interval => [-2n * b, 2n * b]);
  t.ok(areWithin(resultOf('multiply', bounds, sumOfTwo).bounds, wanted));
  const [least, most] = rangeOf(wanted);
  t.ok(least > -(2n ** 70n) && most < 2n ** 256n + 2n ** 70n, `${least} .. ${most}`);
  // Because of this bound, two numbers of the same residue differ by 0, p or -p. So the two lowest limbs show the residue
  // modulo 2^58.
  t.ok(most - least < 2n * P);

  // Secp256k1Arithmetic multiplies combined numbers by 1.
  for (const [plus, minus] of [
    [3n, 0n],
    [2n, 0n],
    [1n, 1n],
    [1n, 2n],
  ] as const) {
    const sum = bounds.map(([a, b]): Interval => [plus * a - minus * b, plus * b - minus * a]);
    for (const interval of sum)
      t.ok(isWithin(interval, [-(2n ** 31n), 2n ** 31n - 1n]), interval.join(' .. '));
    t.ok(areWithin(resultOf('multiply', sum, ONE).bounds, wanted));
  }
});

test('scalars: no sum overflows, and all below 1.04 n stay so', async (t) => {
  const { bounds, largest } = closure(['multiplyScalar', 'squareScalar']);
  t.ok(largest < 2n ** 62n, `the largest sum is ${largest}`);
  for (const [i, interval] of bounds.entries())
    t.ok(
      isWithin(interval, [0n, i < LIMBS - 1 ? BigInt(LIMB_MASK) : 2n ** 25n]),
      `${i}: ${interval.join(' .. ')}`,
    );
  // The result is a product, plus the multiple of n that Montgomery's reduction adds, divided by the factor of the reduction.
  const most = (104n * N) / 100n;
  t.ok(most > 2n ** 256n);
  t.ok((most * most + (SCALAR_FACTOR - 1n) * N) / SCALAR_FACTOR < most);
});

test('an overflow is found', async (t) => {
  const wide = PLAIN.map(([, most]): Interval => [-2n * most, 2n * most]);
  t.throws(() => resultOf('multiply', wide), RangeError);
  t.throws(() => resultOf('addPairs', wide), RangeError);
});
