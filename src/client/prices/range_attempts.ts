import { isRateLimited, ProtocolError, UnreachableError } from '../connect/errors.js';

/** The number of attempts without a new row, and the waits between these attempts. */
const ATTEMPTS_MAX = 5;
const FIRST_DELAY_MS = 250;

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

/** Returns the beginning of the next answer's range. */
export function nextOf(url: string, link: string | undefined): bigint | undefined {
  if (link === undefined) return undefined;
  const from = /^<[^>]*[?&]from=(\d{1,19})(?:&[^>]*)?>; rel="next"$/.exec(link)?.[1];
  if (from === undefined) throw new ProtocolError(url, 'the header Link has no next range');
  return BigInt(from);
}
