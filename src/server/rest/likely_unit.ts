/** The year 5138 in seconds, and 1973 in milliseconds. */
const LIKELY_MILLISECONDS_MIN = 100_000_000_000;

/** Returns the end of an error about a time in UNIX seconds: a question, if the caller probably sent milliseconds. */
export function perhapsMilliseconds(second: number): string {
  return second < LIKELY_MILLISECONDS_MIN ? '' : '; it is in UNIX seconds: did you send milliseconds?';
}
