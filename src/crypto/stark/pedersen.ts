import assert from 'node:assert/strict';
import { type CurvePoint, FIELD_PRIME, PointSum, TabledPoint } from './stark_curve.js';

/**
 * The Pedersen hash of StarkEx: the x coordinate of shift + x_low P0 + x_high P1 + y_low P2 + y_high P3, where low means the lower
 * 248 bits of an operand and high means the other bits. The operands are field elements, 0 .. p-1.
 *
 * The first operand names an asset and a publisher's oracle. First operands repeat often, so this class caches their parts of the
 * sum. With the cache, a hash takes 50 µs and the check of a declared hash takes 30 µs. In the package `@scure/starknet` a hash
 * takes 1.4 ms.
 */
export class Pedersen {
  readonly #firstParts = new Map<bigint, CurvePoint>();
  readonly #firstPartsMax: number;

  /** @param firstPartsMax the largest number of cached first operands; each takes about 250 bytes */
  constructor(firstPartsMax = 16_384) {
    this.#firstPartsMax = firstPartsMax;
  }

  hash(x: bigint, y: bigint): bigint {
    return this.#sum(x, y).toAffine()!.x;
  }

  /** Checks that `hash` is the hash of (x, y). The check needs no division. In {@link hash}, the division is half of the work. */
  isHash(x: bigint, y: bigint, hash: bigint): boolean {
    return hash < FIELD_PRIME && this.#sum(x, y).hasX(hash);
  }

  #sum(x: bigint, y: bigint): PointSum {
    assert(x >= 0n && x < FIELD_PRIME && y >= 0n && y < FIELD_PRIME, 'a Pedersen operand is a field element');
    const first = this.#firstPart(x);
    const sum = new PointSum();
    sum.add(first.x, first.y);
    addOperand(sum, y, P2, P3);
    return sum;
  }

  #firstPart(x: bigint): CurvePoint {
    const known = this.#firstParts.get(x);
    if (known !== undefined) return known;
    const sum = new PointSum();
    sum.add(SHIFT.x, SHIFT.y);
    addOperand(sum, x, P0, P1);
    const part = sum.toAffine()!;
    // The oldest part is dropped even if it is in use, because computing a part again takes only 0.1 ms.
    if (this.#firstParts.size >= this.#firstPartsMax) {
      this.#firstParts.delete(this.#firstParts.keys().next().value!);
    }
    this.#firstParts.set(x, part);
    return part;
  }
}

/** The windows of P2 that prices use. */
const PRICE_WINDOWS = 10;

/** Fills the tables for the hashes of prices. Yields after each window of a table. */
export function* fillPedersenTables(): Generator<void> {
  yield* P0.fill();
  yield* P2.fill(PRICE_WINDOWS);
}

const LOW_BITS = 248;

function addOperand(sum: PointSum, operand: bigint, low: TabledPoint, high: CurvePoint): void {
  low.addMultiple(sum, BigInt.asUintN(LOW_BITS, operand), false);
  // The loop runs at most 8 times. For a price it does not run, because a price's operand has less than 160 bits.
  for (let rest = operand >> BigInt(LOW_BITS); rest > 0n; rest--) sum.add(high.x, high.y);
}

// The constant points. The digits of pi define the points, so no relation between the points is known. Sources: "Pedersen hash
// function" in the StarkEx documentation, and pedersen_params.json in StarkWare's starkex-resources.
const SHIFT: CurvePoint = {
  x: 2089986280348253421170679821480865132823066470938446095505822317253594081284n,
  y: 1713931329540660377023406109199410414810705867260802078187082345529207694986n,
};
const P0 = new TabledPoint(
  {
    x: 996781205833008774514500082376783249102396023663454813447423147977397232763n,
    y: 1668503676786377725805489344771023921079126552019160156920634619255970485781n,
  },
  8,
);
const P1: CurvePoint = {
  x: 2251563274489750535117886426533222435294046428347329203627021249169616184184n,
  y: 1798716007562728905295480679789526322175868328062420237419143593021674992973n,
};
// The second operand is different each time, so its table is larger. Prices use its {@link PRICE_WINDOWS} lower windows.
const P2 = new TabledPoint(
  {
    x: 2138414695194151160943305727036575959195309218611738193261179310511854807447n,
    y: 113410276730064486255102093846540133784865286929052426931474106396135072156n,
  },
  12,
);
const P3: CurvePoint = {
  x: 2379962749567351885752724891227938183011949129833673362440656643086021394946n,
  y: 776496453633298175483985398648758586525933812536653089401905292063708816422n,
};
