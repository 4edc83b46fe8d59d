export interface Knee {
  /** The largest amount within the bounds; `undefined` if even the first amount exceeded a bound. */
  readonly holds: number | undefined;
  /** The smallest amount that exceeded a bound; `undefined` if no tried amount did. */
  readonly breaks: number | undefined;
}

/** The largest number of doublings and of halvings. */
const DOUBLINGS_MAX = 8;
/** The search ends when the two amounts differ by less than this share. */
const PRECISION = 0.1;

/**
 * Doubles an amount until the load exceeds a bound, and then bisects.
 * @param holds runs the load with an amount, and returns whether it stays within all bounds
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
