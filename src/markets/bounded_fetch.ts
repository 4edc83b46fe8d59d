const ANSWER_MS_MAX = 10_000;
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
 * Fetches a text of at most `bytesMax` bytes within 10 s. A request with headers follows no redirect, because a header may contain a key
 * that is only for this server.
 * @throws FetchFault
 */
export async function fetchText(
  url: string,
  bytesMax: number,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<string> {
  const timeout = AbortSignal.timeout(ANSWER_MS_MAX);
  const either = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  const redirect = Object.keys(headers).length > 0 ? 'manual' : 'follow';
  try {
    const response = await fetch(url, {
      headers: { 'User-Agent': 'tickseal', ...headers },
      signal: either,
      redirect,
    });
    const { ok, status, body } = response;
    if (!ok) {
      await body?.cancel();
      const isRedirect = redirect === 'manual' && status >= 300 && status < 400;
      throw new FetchFault(
        isRedirect
          ? `the answer is ${status}; a redirect is not followed with headers, so name the address to which it leads`
          : `the answer is ${status}`,
        status,
      );
    }
    return await readAtMost(response, bytesMax);
  } catch (error) {
    if (error instanceof FetchFault) throw error;
    const { cause } = error as { cause?: NodeJS.ErrnoException };
    throw new FetchFault(
      timeout.aborted ? 'no answer within 10 s' : `no answer (${cause?.code ?? 'no connection'})`,
    );
  }
}

async function readAtMost(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) throw new FetchFault(`the answer has more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  // Unlike Buffer's `toString`, the decoder drops a byte order mark, with which some servers begin JSON.
  return new TextDecoder().decode(Buffer.concat(chunks));
}
