import type { FetchResponse } from './platform.js';

/** The longest line that is accepted, in characters. An aggregate with a hundred inputs takes a tenth of it. */
const LINE_LENGTH_MAX = 1_000_000;

declare const TextDecoder: new () => {
  decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string;
};

/**
 * Reads the lines of a body while it arrives.
 * @param waiting called before each wait for the body; it returns the function to call after the wait
 * @throws RangeError for a line that is too long, or that has no end
 */
export async function* responseLines(
  response: FetchResponse,
  waiting: () => () => void,
): AsyncIterable<string> {
  let rest = '';
  for await (const text of responseTexts(response, waiting)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    if (rest.length > LINE_LENGTH_MAX) throw new RangeError('a line is too long');
    yield* lines;
  }
  if (rest !== '') throw new RangeError('the last line is not whole');
}

async function* responseTexts(response: FetchResponse, waiting: () => () => void): AsyncIterable<string> {
  // A function for requests that was given by the user may return whole texts only.
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
    // A body that is not read to its end would keep its connection.
    reader.cancel().catch(() => {});
  }
}
