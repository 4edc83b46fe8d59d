import { foreignText } from '../../wire/foreign_text.js';
import { AnswerLimit, ForeignFault } from './answer_limit.js';
import {
  type AbortSignalLike,
  BROWSER,
  type FetchResponse,
  NOT_COMPRESSED,
  type Platform,
} from './platform.js';

// The only way to an answer of a foreign service. Every part of an answer has a bound, because the service may be broken or lie.

/** The largest answer that is read as a whole, in bytes. */
export const ANSWER_BYTES_MAX = 16 * 1024 ** 2;
/** The part of the answer to a refused request that is read, in bytes. */
const REFUSAL_BYTES_MAX = 65_536;
/** The largest accepted length of a line, in characters. An aggregate with a hundred inputs has a tenth of this length. */
const LINE_LENGTH_MAX = 1_000_000;
const FIRST_BYTES = 65_536;

declare const TextEncoder: new () => { encode(text: string): Uint8Array };

declare const TextDecoder: new () => {
  decode(bytes?: Uint8Array, options?: { readonly stream: boolean }): string;
};

/** A request to a foreign service. */
export interface ForeignRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The body of a POST; absent for a GET. */
  readonly body?: string | Uint8Array | undefined;
  /** The time limit of the whole answer. Default: 10 s */
  readonly answerMsMax?: number | undefined;
  /** Ends the request until its answer has been read, or until its lines are read. */
  readonly signal?: AbortSignalLike | undefined;
  /** Default: a compressed answer is an error, because the bytes on their way would have no bound. */
  readonly takesCompressed?: boolean | undefined;
}

/**
 * Sends a request, and returns the answer when its headers have arrived.
 * @param platform the functions that send and wait. Default: the global functions
 * @throws ForeignFault without an answer, and for a redirect
 */
export async function boundedFetch(
  request: ForeignRequest,
  platform: Pick<Platform, 'fetch' | 'schedule' | 'choosesEncoding'> = BROWSER,
): Promise<BoundedAnswer> {
  const { url, headers = {}, body, takesCompressed } = request;
  const limit = new AnswerLimit(platform, request.answerMsMax, request.signal);
  try {
    const response = await limit.orLate(
      platform.fetch(url, {
        headers: takesCompressed ? headers : { ...headers, ...NOT_COMPRESSED },
        credentials: 'omit',
        redirect: 'manual',
        signal: limit.signal as never,
        ...(body !== undefined && { method: 'POST', body }),
      }),
    );
    requireNoRedirect(response);
    if (!takesCompressed && platform.choosesEncoding()) requireNotCompressed(response);
    return new BoundedAnswer(response, limit);
  } catch (error) {
    throw limit.fault(error);
  }
}

/** The answer to a request. Its body must be read, or closed. */
export class BoundedAnswer {
  /** The HTTP status. */
  readonly status: number;
  readonly headers: FetchResponse['headers'];
  readonly #response: FetchResponse;
  readonly #limit: AnswerLimit;

  constructor(response: FetchResponse, limit: AnswerLimit) {
    this.status = response.status;
    this.headers = response.headers;
    this.#response = response;
    this.#limit = limit;
  }

  /** Ends the answer without reading its body. */
  close(): void {
    this.#limit.stop();
  }

  /** Keeps the answer when the signal of its request aborts. */
  detach(): void {
    this.#limit.detach();
  }

  /** Reads the whole body. @throws ForeignFault for a body of more than `bytesMax` bytes, after decompression too */
  async wholeBytes(bytesMax = ANSWER_BYTES_MAX): Promise<Uint8Array> {
    try {
      // The bytes on their way are bounded before the first is read.
      if (Number(this.headers.get('content-length')) > bytesMax) throw tooLong(bytesMax);
      const { bytes, isWhole } = await this.#read(bytesMax);
      if (!isWhole) throw tooLong(bytesMax);
      return bytes;
    } catch (error) {
      throw this.#limit.fault(error);
    } finally {
      this.#limit.end();
    }
  }

  /** Reads the whole body as text, like {@link wholeBytes}. */
  async wholeText(bytesMax?: number): Promise<string> {
    return new TextDecoder().decode(await this.wholeBytes(bytesMax));
  }

  /** Reads the beginning of the answer to a refused request. */
  async refusalText(): Promise<string> {
    try {
      return new TextDecoder().decode((await this.#read(REFUSAL_BYTES_MAX)).bytes);
    } catch (error) {
      throw this.#limit.fault(error);
    } finally {
      this.#limit.end();
    }
  }

  /**
   * Reads the lines of a body of any length as they arrive. Lines that arrive together are one list. The wait for a line, but
   * not the time until the caller takes it, has the time limit of a whole answer.
   * @throws ForeignFault for a line that is too long, and for a last line without a newline
   */
  async *lines(): AsyncGenerator<readonly string[], void, undefined> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const part of this.#parts()) {
        const text = decoder.decode(part, { stream: true });
        rest += text;
        if (text.includes('\n')) {
          const lines = rest.split('\n');
          rest = lines.pop()!;
          if (lines.some(({ length }) => length > LINE_LENGTH_MAX)) throw tooLongLine();
          this.#limit.pause();
          yield lines;
          this.#limit.start();
        }
        if (rest.length > LINE_LENGTH_MAX) throw tooLongLine();
      }
      if (rest + decoder.decode() !== '') throw new ForeignFault('the last line is not whole', 'missing');
    } catch (error) {
      throw this.#limit.fault(error);
    } finally {
      this.#limit.end();
    }
  }

  async #read(bytesMax: number): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
    let bytes = new Uint8Array(Math.min(FIRST_BYTES, bytesMax));
    let length = 0;
    for await (const part of this.#parts()) {
      const end = length + part.length;
      if (end > bytesMax) {
        const before = bytes.subarray(0, length);
        bytes = new Uint8Array(bytesMax);
        bytes.set(before);
        bytes.set(part.subarray(0, bytesMax - length), length);
        return { bytes, isWhole: false };
      }
      if (end > bytes.length) {
        const before = bytes.subarray(0, length);
        bytes = new Uint8Array(Math.min(bytesMax, Math.max(end, 2 * bytes.length)));
        bytes.set(before);
      }
      bytes.set(part, length);
      length = end;
    }
    return { bytes: bytes.subarray(0, length), isWhole: true };
  }

  async *#parts(): AsyncGenerator<Uint8Array, void, undefined> {
    const { body } = this.#response;
    // The user's own `fetch` function may return whole bodies only.
    if (!body) {
      yield await wholeBody(this.#response);
      return;
    }
    const reader = body.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        this.#limit.requireTime();
        if (done) return;
        yield value!;
      }
    } finally {
      // Without this call, a partly read body would keep its connection open.
      reader.cancel().catch(() => {});
    }
  }
}

async function wholeBody(response: FetchResponse): Promise<Uint8Array> {
  if (response.arrayBuffer !== undefined) return new Uint8Array(await response.arrayBuffer());
  return new TextEncoder().encode(await response.text());
}

/** @throws ForeignFault for a redirect. Browsers hide where it leads. */
function requireNoRedirect({ status, headers, redirected }: FetchResponse): void {
  const isRedirect = status === 0 || (status >= 300 && status < 400) || redirected === true;
  if (!isRedirect) return;
  const place = headers.get('location');
  const to = place === null ? '' : ` to ${foreignText(place)}`;
  throw new ForeignFault(`the answer is a redirect${to}, and redirects are not followed`, 'redirect');
}

/** @throws ForeignFault for a compressed answer */
function requireNotCompressed({ headers }: FetchResponse): void {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new ForeignFault('the answer is compressed, which was not asked for', 'compressed');
}

function tooLong(bytesMax: number): ForeignFault {
  return new ForeignFault(`the answer has more than ${bytesMax} bytes`, 'too long');
}

function tooLongLine(): ForeignFault {
  return new ForeignFault(`a line of the answer has more than ${LINE_LENGTH_MAX} characters`, 'too long');
}
