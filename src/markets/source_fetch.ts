import type { ForeignFault } from '../client/connect/answer_limit.js';
import { boundedFetch } from '../client/connect/bounded_fetch.js';

/** The statuses after which no request is sent to the server for {@link STOP_MS}. */
export const STOP_STATUSES: ReadonlySet<number> = new Set([403, 418, 429, 451]);
export const STOP_MS = 60_000;

/** A failed or missing answer. The message contains no address, because a query may contain a key. */
export class FetchFault extends Error {
  /** The HTTP status; `undefined` without an answer. */
  readonly status: number | undefined;

  constructor(text: string, status?: number) {
    super(text);
    this.status = status;
  }
}

/**
 * Fetches a text of at most `bytesMax` bytes within 10 s. Other than a client, it takes a compressed answer, and it follows redirects
 * unless the request has headers: a header may contain a key that is only for this server.
 * @throws FetchFault
 */
export async function fetchText(
  url: string,
  bytesMax: number,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<string> {
  const followsRedirects = Object.keys(headers).length === 0;
  const all = { 'User-Agent': 'tickseal', ...headers };
  try {
    const answer = await boundedFetch({
      url,
      headers: all,
      followsRedirects,
      takesCompressed: true,
      signal: signal as never,
    });
    const { status } = answer;
    if (status >= 200 && status < 300) return await answer.wholeText(bytesMax);
    answer.close();
    throw new FetchFault(`the answer is ${status}`, status);
  } catch (error) {
    if (error instanceof FetchFault) throw error;
    const { kind, message, networkError } = error as ForeignFault;
    if (kind === 'redirect')
      throw new FetchFault(
        'the answer is a redirect, which is not followed with headers, so name the address to which it leads',
      );
    throw new FetchFault(
      networkError === undefined ? message : `no answer (${networkError.code ?? 'no connection'})`,
    );
  }
}
