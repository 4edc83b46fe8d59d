/** The number of requests for the past that a token may have at the same time, on one thread. */
const REQUESTS_AT_ONCE = 16;

/** Returns the token of a reader. As many readers as a token allows share the token. */
export function rangeToken(reader: number): string {
  return `range-${Math.floor(reader / REQUESTS_AT_ONCE)}`;
}
