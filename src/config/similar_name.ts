/** The largest number of changed letters between a mistyped name and the meant name. */
const CHANGES_MAX = 2;

/**
 * Finds the name that a mistyped name probably means.
 * @returns the nearest name with at most {@link CHANGES_MAX} changed, added, missing or exchanged letters; `undefined` without one
 */
export function similarName(typed: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.min(CHANGES_MAX, Math.floor(typed.length / 3)) + 1;
  for (const name of names) {
    if (Math.abs(name.length - typed.length) >= least) continue;
    const changes = changesBetween(typed.toLowerCase(), name.toLowerCase());
    if (changes < least) [best, least] = [name, changes];
  }
  return best;
}

/** Counts the letters to change, add, remove or exchange with their neighbour (optimal string alignment). */
function changesBetween(from: string, to: string): number {
  let twoBefore: number[] = [];
  let before = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      row[j] = Math.min(before[j]! + 1, row[j - 1]! + 1, before[j - 1]! + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        row[j] = Math.min(row[j]!, twoBefore[j - 2]! + 1);
    }
    [twoBefore, before] = [before, row];
  }
  return before[to.length]!;
}
