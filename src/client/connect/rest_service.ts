import { STREAM_TICKET_PATH } from '../../wire/stream_paths.js';
import { STREAM_PROTOCOL, TICKET_PREFIX } from '../../wire/stream_ticket.js';
import { authorization, type Login } from './credentials.js';
import { ProtocolError, RefusedError, UnreachableError } from './errors.js';
import type { AbortSignalLike, FetchResponse, Platform } from './platform.js';
import { errorOf, RefusedConnection, retryAfterMsOf } from './refusal.js';
import type { TokenSource } from './token_source.js';

/** The time after which an answer counts as missing. */
const ANSWER_DELAY_MS_MAX = 10_000;
const UNAUTHORIZED = 401;

/** The REST API of a service, and the login of its WebSockets. */
export class RestService {
  /** The base address with `http`, without a slash at the end. */
  readonly url: string;
  readonly #platform: Platform;
  readonly #tokens: TokenSource;
  readonly #end: AbortSignalLike | undefined;

  /** @param end the signal that ends the requests of this service */
  constructor(url: string, platform: Platform, tokens: TokenSource, end?: AbortSignalLike) {
    this.url = url.replace(/^ws/, 'http').replace(/\/+$/, '');
    this.#platform = platform;
    this.#tokens = tokens;
    this.#end = end;
  }

  /** Returns the same service, whose requests end when the signal aborts. */
  until(end: AbortSignalLike): RestService {
    return new RestService(this.url, this.#platform, this.#tokens, end);
  }

  /** The clock: UNIX milliseconds. */
  get nowMs(): () => number {
    return this.#platform.nowMs;
  }

  /** The base address with `ws`. */
  get socketUrl(): string {
    return this.url.replace(/^http/, 'ws');
  }

  /**
   * Gets a path with its query. If the service refuses the token, the function tries once more with a new token.
   * @returns the text of the answer's body.
   * @throws RefusedError for a status of 4xx, UnreachableError for any other status except 200, and without an answer.
   */
  async get(path: string): Promise<string> {
    const answer = await this.ask(path, (response) => response.text());
    if (answer.status === 200) return answer.body;
    throw this.refusal(path, answer);
  }

  /**
   * Asks for a path like {@link get}, and returns an answer of any status.
   * @param read reads the body, now or later; `waiting` limits each wait for more of the body
   */
  async ask<Body>(path: string, read: BodyReader<Body>, mayRenew = true): Promise<RestAnswer<Body>> {
    const token = await this.#tokens.token();
    const answer = await this.#fetch(path, token, read);
    if (answer.status === UNAUTHORIZED && mayRenew && this.#tokens.refuse(token))
      return this.ask(path, read, false);
    return answer;
  }

  /** Returns the error of an answer with a status other than 200. */
  refusal(
    path: string,
    { status, body, retryAfterMs }: Omit<RestAnswer<string>, 'link'>,
  ): RefusedError | UnreachableError {
    const reason = errorOf(body) ?? `HTTP ${status}`;
    if (status < 400 || status >= 500) return new UnreachableError(this.url, reason, bare(path));
    const keptFrom = /"kept_from":(\d{1,19})\}$/.exec(body)?.[1];
    return new RefusedError(
      this.url,
      status,
      reason,
      bare(path),
      retryAfterMs,
      keptFrom === undefined ? undefined : BigInt(keptFrom),
    );
  }

  /** Gets a path like {@link get}, and returns the `data` of the answer. The numbers of this answer fit a double. */
  async getData(path: string): Promise<unknown> {
    const text = await this.get(path);
    try {
      return (JSON.parse(text) as { data: unknown }).data;
    } catch {
      throw new ProtocolError(this.url, `${path} is not answered with JSON`);
    }
  }

  /**
   * Returns the login of this service's WebSockets. The login is a header, or a ticket if the platform cannot send headers.
   */
  openLogin(): Login {
    let token: string | undefined;
    let isRefused = false;
    return {
      credentials: async () => {
        token = await this.#tokens.token();
        if (token === undefined || this.#platform.sendsHeaders)
          return { headers: authorization(token), protocols: [] };
        try {
          return { headers: {}, protocols: await this.#ticketProtocols() };
        } catch (error) {
          if (!(error instanceof RefusedError)) throw error;
          isRefused = true;
          throw new RefusedConnection(error.status, error.message);
        }
      },
      // With tickets, the next request for a ticket shows that the service refuses the token. The client then replaces the token.
      renew: () => (this.#platform.sendsHeaders ? this.#tokens.refuse(token) : !isRefused),
    };
  }

  async #ticketProtocols(): Promise<readonly string[]> {
    const data = await this.getData(STREAM_TICKET_PATH);
    return [STREAM_PROTOCOL, TICKET_PREFIX + (data as { ticket: string }).ticket];
  }

  async #fetch<Body>(
    path: string,
    token: string | undefined,
    read: BodyReader<Body>,
  ): Promise<RestAnswer<Body>> {
    const abort = new AbortController();
    const stop = () => abort.abort();
    if (this.#end?.aborted) stop();
    this.#end?.addEventListener('abort', stop);
    const waiting = () => this.#platform.schedule(stop, ANSWER_DELAY_MS_MAX);
    const cancel = waiting();
    try {
      const response = await this.#platform.fetch(this.url + path, {
        headers: authorization(token),
        credentials: 'omit',
        signal: abort.signal as never,
      });
      return {
        status: response.status,
        body: await read(response, waiting),
        link: response.headers.get('link') ?? undefined,
        retryAfterMs: retryAfterMsOf(response),
      };
    } catch (error) {
      const { message, cause } = error as Error & { cause?: Error };
      const late = `no answer within ${ANSWER_DELAY_MS_MAX} ms`;
      const reason = abort.signal.aborted ? late : cause?.message || message;
      throw new UnreachableError(this.url, reason, bare(path));
    } finally {
      cancel();
      // The first answer cancels the other requests, but not the read of this body.
      this.#end?.removeEventListener('abort', stop);
    }
  }
}

/** @param waiting called before each wait for the body; returns the function to call after the wait */
type BodyReader<Body> = (response: FetchResponse, waiting: () => () => void) => Promise<Body>;

export interface RestAnswer<Body> {
  readonly status: number;
  readonly body: Body;
  /** The header `Link`. */
  readonly link: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** Returns a path without its query. */
export function bare(path: string): string {
  return path.split('?')[0]!;
}
