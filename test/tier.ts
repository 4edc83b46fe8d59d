// The two differences between the fast and the whole tier inside a test. `npm run test:whole` sets the variable.

const isWhole = process.env['TICKSEAL_TEST_TIER'] === 'whole';

/**
 * The numbers of threads with which a service is tested when its answers come from the same code: one in the fast tier, one and
 * two in the whole tier. Tests of differences between threads name both numbers themselves.
 */
export const THREAD_COUNTS: readonly number[] = isWhole ? [1, 2] : [1];

/** Returns the number of random cases for a costly property: a fifth in the fast tier. */
export function cases(whole: number): number {
  return isWhole ? whole : Math.ceil(whole / 5);
}
