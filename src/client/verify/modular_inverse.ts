/** Returns `value` in 0 .. modulus-1. */
export function reduce(value: bigint, modulus: bigint): bigint {
  const rest = value % modulus;
  return rest < 0n ? rest + modulus : rest;
}

/**
 * Returns the inverse of `value` by Euclid's algorithm. `value` is not a multiple of the prime `modulus`. The time depends on
 * the value.
 */
export function inverse(value: bigint, modulus: bigint): bigint {
  let [a, b] = [reduce(value, modulus), modulus];
  let [u, v] = [1n, 0n];
  while (a !== 1n) {
    const quotient = b / a;
    [a, b] = [b - quotient * a, a];
    [u, v] = [v - quotient * u, u];
  }
  return reduce(u, modulus);
}
