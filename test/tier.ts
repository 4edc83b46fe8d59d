// The differences between the fast and the whole tier inside a test file. `npm run test:whole` sets the variable.

const isWhole = process.env['TICKSEAL_TEST_TIER'] === 'whole';

/** Returns the cases of a costly test. The fast tier tries the first of them. */
export function firstOf<T>(whole: readonly [T, ...T[]]): readonly T[] {
  return isWhole ? whole : whole.slice(0, 1);
}

/**
 * The numbers of threads for tests whose answers come from the same code: one in the fast tier, one and two in the whole tier.
 * Tests of differences between threads do not use this constant.
 */
export const THREAD_COUNTS = firstOf([1, 2]);

/** Returns the number of random cases for a costly property. The fast tier runs a fifth of them. */
export function cases(whole: number): number {
  return isWhole ? whole : Math.ceil(whole / 5);
}
