const NEAR_MAX = 3;
/** The largest number of edits that lead to a similar pair. Replacing a three-letter currency takes three edits. */
const EDITS_MAX = 3;

/** Returns the pairs of the list that are most similar to a pair outside the list, nearest first. */
export function nearPairs(pair: string, list: readonly string[]): string[] {
  const [base, quote] = pair.split('/') as [string, string];
  return list
    .filter((other) => Math.abs(other.length - pair.length) <= EDITS_MAX)
    .map((other) => ({ other, edits: other === `${quote}/${base}` ? 0 : editsBetween(pair, other) }))
    .filter(({ edits }) => edits <= EDITS_MAX)
    .sort((one, two) => one.edits - two.edits || (one.other < two.other ? -1 : 1))
    .slice(0, NEAR_MAX)
    .map(({ other }) => other);
}

/** Counts the letters that must be inserted, removed or replaced. */
function editsBetween(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const replaced = above[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, above[column]! + 1, current[column - 1]! + 1));
    }
    above = current;
  }
  return above[other.length]!;
}
