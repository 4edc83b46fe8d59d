/** The age above which a newest price is old. A service signs each live price again within seconds. */
const OLD_MS = 60_000;
/** The time by which a price may be ahead of this machine's clock, because clocks differ. */
const AHEAD_MS_MAX = 10_000;
const MS_PER_SECOND = 1_000;

/**
 * Describes a newest price whose time does not fit this machine's clock: somebody may repeat an old price, or a clock is wrong.
 * @returns `undefined` for a time that fits
 */
export function ageRemark(ageMs: number): string | undefined {
  if (ageMs > OLD_MS)
    return `this price is old: it was signed ${secondsText(ageMs)} s ago by this machine's clock`;
  if (ageMs >= -AHEAD_MS_MAX) return undefined;
  return `this price is from the future, or the clock here is wrong: it was signed ${secondsText(-ageMs)} s after this machine's present time`;
}

function secondsText(ms: number): string {
  return String(Math.round(ms / MS_PER_SECOND));
}
