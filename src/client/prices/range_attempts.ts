import { isRateLimited, ProtocolError, UnreachableError } from '../connect/errors.js';

/** The number of attempts without a new row, and the waits between these attempts. */
const ATTEMPTS_MAX = 5;
const FIRST_DELAY_MS = 250;
/** The largest number of consecutive answers without a row that lead to a further answer. A service sends no such answers today. */
const EMPTY_PAGES_MAX = 20;

/** Counts the attempts to read a range in parts. */
export class RangeAttempts {
  #failed = 0;

  /** Records that the range has advanced. */
  advanced(): void {
    this.#failed = 0;
  }

  /**
   * Records a failed attempt.
   * @returns the time in ms until the next attempt
   * @throws the error when another attempt would not help
   */
  delayAfter(error: unknown): number {
    if (!(error instanceof UnreachableError || isRateLimited(error)) || ++this.#failed >= ATTEMPTS_MAX)
      throw error;
    const retryAfterMs = isRateLimited(error) ? error.retryAfterMs : undefined;
    return retryAfterMs ?? FIRST_DELAY_MS * 2 ** (this.#failed - 1);
  }
}

/** Follows the header `Link` from answer to answer of a range. */
export class RangePages {
  #emptyPages = 0;

  /**
   * Returns the beginning of the next answer's range; `undefined` after the last answer.
   * @param path the path of this answer, with its query
   * @param fromNs the beginning of this answer's range
   * @param rows the number of rows in this answer
   * @throws ProtocolError when the header leads to another place, does not advance, or too many answers have no rows
   */
  next(
    url: string,
    path: string,
    link: string | undefined,
    fromNs: bigint,
    rows: number,
  ): bigint | undefined {
    if (link === undefined) return undefined;
    const [, place, query] = /^<([^?>]*)\?([^>]*)>; rel="next"$/.exec(link) ?? [];
    const from = /(?:^|&)from=(\d{1,19})(?:&|$)/.exec(query ?? '')?.[1];
    const here = path.split('?')[0]!;
    if (from === undefined) throw new ProtocolError(url, `${here}: the header Link has no next range`);
    if (place !== here && place !== url + here)
      throw new ProtocolError(url, `${here}: the header Link leads to another place`);
    if (BigInt(from) <= fromNs)
      throw new ProtocolError(
        url,
        `${here}: the header Link does not advance: it leads from ${fromNs} to ${from}`,
      );
    this.#emptyPages = rows > 0 ? 0 : this.#emptyPages + 1;
    if (this.#emptyPages > EMPTY_PAGES_MAX)
      throw new ProtocolError(url, `${here}: more than ${EMPTY_PAGES_MAX} answers of the range have no rows`);
    return BigInt(from);
  }
}
