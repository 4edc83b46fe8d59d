import type { ForeignFault } from '../../client/connect/answer_limit.js';
import { boundedFetch } from '../../client/connect/bounded_fetch.js';

/** The statuses after which the server is left alone for a while. */
const STOP_STATUSES: ReadonlySet<number> = new Set([403, 418, 429, 451]);
/** The time for which the server is left alone, unless it names a longer one. */
const STOP_MS = 60_000;
/** The longest time that a server may name. The longest known ban is three days. */
const STOP_MS_MAX = 4 * 86_400_000;

/**
 * Returns the time for which a server must be left alone after an answer: at least as long as its `Retry-After` says.
 * @param retryAfter the header: seconds, or a date
 */
export function stopMsOf(status: number, retryAfter: string | null | undefined, nowMs = Date.now()): number {
  const isStopped = STOP_STATUSES.has(status);
  const text = retryAfter ?? '';
  const namedMs = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs;
  if (!isStopped && status !== 503) return 0;
  return Math.min(STOP_MS_MAX, Math.max(isStopped ? STOP_MS : 0, namedMs > 0 ? namedMs : 0));
}

/** A failed or missing answer. The message contains no address, because a query may contain a key. */
export class FetchFault extends Error {
  /** The time for which the server must be left alone. */
  readonly stopMs: number;

  constructor(text: string, stopMs = 0) {
    super(text);
    this.stopMs = stopMs;
  }
}

/**
 * Fetches a text of at most `bytesMax` bytes within 10 s. Other than a client, it takes a compressed answer. It follows no redirect: the
 * other server would be a source that nobody named.
 * @throws FetchFault
 */
export async function fetchText(
  url: string,
  bytesMax: number,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<string> {
  const all = { 'User-Agent': 'tickseal', ...headers };
  try {
    const answer = await boundedFetch({
      url,
      headers: all,
      takesCompressed: true,
      signal: signal as never,
    });
    const { status } = answer;
    if (status >= 200 && status < 300) return await answer.wholeText(bytesMax);
    answer.close();
    throw new FetchFault(`the answer is ${status}`, stopMsOf(status, answer.headers.get('retry-after')));
  } catch (error) {
    if (error instanceof FetchFault) throw error;
    const { kind, message, networkError } = error as ForeignFault;
    // The text names where the redirect leads, which may be an address with a key.
    if (kind === 'redirect')
      throw new FetchFault(
        'the answer is a redirect, which is not followed; name the address to which it leads',
      );
    throw new FetchFault(
      networkError === undefined ? message : `no answer (${networkError.code ?? 'no connection'})`,
    );
  }
}
