export interface Knee {
  /** The largest amount that held; `undefined` if the first amount did not hold. */
  readonly holds: number | undefined;
  /** The smallest amount that did not hold; `undefined` if all tried amounts held. */
  readonly breaks: number | undefined;
}

/** The largest number of doublings and of halvings. */
const DOUBLINGS_MAX = 8;
/** The search ends when the two amounts differ by less than this share. */
const PRECISION = 0.1;

/**
 * Doubles an amount until a bound breaks, and then halves the distance.
 * @param holds runs the load with an amount, and tells whether all bounds hold
 */
export async function findLimit(first: number, holds: (amount: number) => Promise<boolean>): Promise<Knee> {
  let good: number | undefined;
  let bad: number | undefined;
  for (let i = 0, amount = first; i <= DOUBLINGS_MAX && bad === undefined; i++, amount *= 2)
    if (await holds(amount)) good = amount;
    else bad = amount;
  if (good === undefined || bad === undefined) return { holds: good, breaks: bad };
  while (bad - good > Math.max(1, good * PRECISION)) {
    const middle = Math.round((good + bad) / 2);
    if (await holds(middle)) good = middle;
    else bad = middle;
  }
  return { holds: good, breaks: bad };
}
