import { type AffinePoint, FixedPoint, Sum } from './stark_points.js';

// The Pedersen hash of StarkEx. The points come from pedersen_params.json in StarkWare's starkex-resources.

/** The number of lower bits of an operand. The remaining bits have their own point. */
const LOW_BITS = 248;
const SHIFT: AffinePoint = {
  x: 2089986280348253421170679821480865132823066470938446095505822317253594081284n,
  y: 1713931329540660377023406109199410414810705867260802078187082345529207694986n,
};
const X_LOW = new FixedPoint({
  x: 996781205833008774514500082376783249102396023663454813447423147977397232763n,
  y: 1668503676786377725805489344771023921079126552019160156920634619255970485781n,
});
const X_HIGH: AffinePoint = {
  x: 2251563274489750535117886426533222435294046428347329203627021249169616184184n,
  y: 1798716007562728905295480679789526322175868328062420237419143593021674992973n,
};
const Y_LOW = new FixedPoint({
  x: 2138414695194151160943305727036575959195309218611738193261179310511854807447n,
  y: 113410276730064486255102093846540133784865286929052426931474106396135072156n,
});
const Y_HIGH: AffinePoint = {
  x: 2379962749567351885752724891227938183011949129833673362440656643086021394946n,
  y: 776496453633298175483985398648758586525933812536653089401905292063708816422n,
};

/** Returns the Pedersen hash of two field elements, each in 0 .. p-1. */
export function pedersenHash(x: bigint, y: bigint): bigint {
  const sum = new Sum();
  sum.add(SHIFT);
  addOperand(sum, x, X_LOW, X_HIGH);
  addOperand(sum, y, Y_LOW, Y_HIGH);
  // The sum is infinity for no known operands.
  return sum.toX()!;
}

function addOperand(sum: Sum, operand: bigint, low: FixedPoint, high: AffinePoint): void {
  low.addMultiple(sum, BigInt.asUintN(LOW_BITS, operand));
  // The loop runs at most 8 times. The loop never runs for a price, because a price fills less than 160 bits.
  for (let rest = operand >> BigInt(LOW_BITS); rest > 0n; rest -= 1n) sum.add(high);
}
