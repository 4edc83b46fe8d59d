import { LostRangeError, UnreachableError } from './errors.js';
import type { FetchResponse } from './platform.js';
import { errorOf } from './refusal.js';
import { bare, type RestService } from './rest_service.js';

/** The largest accepted length of a line, in characters. An aggregate with a hundred inputs has a tenth of this length. */
const LINE_LENGTH_MAX = 1_000_000;

declare const TextDecoder: new () => {
  decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string;
};

/** The lines of an answer, and the answer's header `Link`. The iterator returns lines that arrive together as one list. */
export interface LineAnswer {
  readonly lines: AsyncIterable<readonly string[]>;
  readonly link: string | undefined;
}

const LOST = /"damaged":\{"from":(\d{1,19}),"to":(\d{1,19})\}/;

/**
 * Reads the lines of a long answer as they arrive.
 * @throws the errors of {@link RestService.get}, and LostRangeError
 */
export async function getLines(service: RestService, path: string): Promise<LineAnswer> {
  const answer = await service.ask(path, async (response, waiting) =>
    response.status === 200 ? linesUntilLost(service, path, response, waiting) : response.text(),
  );
  const { body, link } = answer;
  if (typeof body !== 'string') return { lines: body, link };
  const [, firstNs, lastNs] = LOST.exec(body) ?? [];
  if (firstNs === undefined || lastNs === undefined) throw service.refusal(path, { ...answer, body });
  throw new LostRangeError(service.url, errorOf(body) ?? '', BigInt(firstNs), BigInt(lastNs));
}

async function* linesUntilLost(
  { url }: RestService,
  path: string,
  response: FetchResponse,
  waiting: () => () => void,
): AsyncIterable<readonly string[]> {
  try {
    yield* responseLines(response, waiting);
  } catch (error) {
    throw new UnreachableError(url, `the answer ended early: ${(error as Error).message}`, bare(path));
  }
}

/**
 * Reads the lines of a body as it arrives.
 * @param waiting called before each wait for the body; returns the function to call after the wait
 * @throws RangeError for a line that is too long, or for a last line without a newline
 */
async function* responseLines(
  response: FetchResponse,
  waiting: () => () => void,
): AsyncIterable<readonly string[]> {
  let rest = '';
  for await (const text of responseTexts(response, waiting)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    if (rest.length > LINE_LENGTH_MAX) throw new RangeError('a line is too long');
    yield lines;
  }
  if (rest !== '') throw new RangeError('the last line is not whole');
}

async function* responseTexts(response: FetchResponse, waiting: () => () => void): AsyncIterable<string> {
  // The user's own `fetch` function may return whole texts only.
  if (!response.body) {
    yield await response.text();
    return;
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const waited = waiting();
      const { done, value } = await reader.read().finally(waited);
      if (done) break;
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    // Without this call, a partly read body would keep its connection open.
    reader.cancel().catch(() => {});
  }
}
