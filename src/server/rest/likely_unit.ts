/** The year 5138 in seconds, and 1973 in milliseconds. */
const LIKELY_MILLISECONDS_MIN = 100_000_000_000;

/** Returns a question for the end of an error about UNIX seconds, if the caller probably sent milliseconds; otherwise an empty text. */
export function perhapsMilliseconds(second: number): string {
  return second < LIKELY_MILLISECONDS_MIN ? '' : '; it is in UNIX seconds: did you send milliseconds?';
}
