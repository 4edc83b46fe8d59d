/** The year 5138 in seconds, and 1973 in milliseconds. */
const LIKELY_MILLISECONDS_MIN = 100_000_000_000;

/** Returns a question for the end of an error about UNIX seconds, if the caller probably sent milliseconds; otherwise an empty text. */
export function perhapsMilliseconds(second: number): string {
  return second < LIKELY_MILLISECONDS_MIN ? '' : '; it is in UNIX seconds: did you send milliseconds?';
}

/** The units that callers send instead of nanoseconds, each with the largest number that is probably a time of this unit. */
const COARSE_UNITS = [
  ['seconds', 100_000_000_000n],
  ['milliseconds', 100_000_000_000_000n],
  ['microseconds', 100_000_000_000_000_000n],
] as const;

/** Returns a question for the end of an error about UNIX nanoseconds, if the caller probably sent a coarser unit; otherwise an empty text. */
export function perhapsCoarser(timeNs: bigint): string {
  const unit = timeNs > 0n && COARSE_UNITS.find(([, max]) => timeNs <= max)?.[0];
  return unit ? `; it is in UNIX nanoseconds: did you send ${unit}?` : '';
}
