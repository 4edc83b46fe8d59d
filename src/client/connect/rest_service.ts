import { STREAM_TICKET_PATH } from '../../wire/stream_paths.js';
import { STREAM_PROTOCOL, TICKET_PREFIX } from '../../wire/stream_ticket.js';
import { parseForeignJson } from '../verify/foreign_json.js';
import { FormReader } from '../verify/form_reader.js';
import { ForeignFault } from './answer_limit.js';
import { type BoundedAnswer, boundedFetch } from './bounded_fetch.js';
import { authorization, type Login } from './credentials.js';
import { ProtocolError, RefusedError, UnreachableError } from './errors.js';
import type { AbortSignalLike, Platform } from './platform.js';
import { errorOf, RefusedConnection, retryAfterMsOf } from './refusal.js';
import type { TokenSource } from './token_source.js';

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
   * @param bytesMax the largest answer. Default: 16 MiB
   * @returns the text of the answer's body.
   * @throws RefusedError for a status of 4xx, UnreachableError for any other status except 200, and without an answer. ProtocolError
   * for a redirect, and for an answer that is too long.
   */
  async get(path: string, bytesMax?: number): Promise<string> {
    const answer = await this.ask(path, (open) => open.wholeText(bytesMax));
    if (answer.body !== undefined) return answer.body;
    throw this.refusal(path, answer);
  }

  /** Gets a path like {@link get}, and reads its JSON. @throws ProtocolError that names the first field of another form */
  async getForm<T>(path: string, read: (answer: FormReader) => T): Promise<T> {
    const text = await this.get(path);
    try {
      return read(new FormReader(parseForeignJson(text), ''));
    } catch (error) {
      throw new ProtocolError(this.url, `${withoutQuery(path)}: ${(error as Error).message}`);
    }
  }

  /**
   * Asks for a path like {@link get}, and returns an answer of any status.
   * @param read reads the body of an answer with status 200, now or later
   * @param takesCompressed true for lines, whose number has no bound. Default: a compressed answer is an error
   */
  async ask<Body>(path: string, read: BodyReader<Body>, takesCompressed = false): Promise<RestAnswer<Body>> {
    const token = await this.#tokens.token();
    const answer = await this.#fetch(path, token, read, takesCompressed);
    if (answer.status !== UNAUTHORIZED || !this.#tokens.refuse(token)) return answer;
    return this.#fetch(path, await this.#tokens.token(), read, takesCompressed);
  }

  /** Returns the error of an answer with a status other than 200. */
  refusal(
    path: string,
    { status, refusal, retryAfterMs }: Omit<RestAnswer<unknown>, 'link' | 'body'>,
  ): RefusedError | UnreachableError {
    const reason = errorOf(refusal) ?? `HTTP ${status}`;
    if (status < 400 || status >= 500)
      return new UnreachableError(this.url, reason, withoutQuery(path), status);
    const keptFrom = /"kept_from":(\d{1,19})\}$/.exec(refusal)?.[1];
    return new RefusedError(
      this.url,
      status,
      reason,
      withoutQuery(path),
      retryAfterMs,
      keptFrom === undefined ? undefined : BigInt(keptFrom),
    );
  }

  /** Returns the error of a missing answer, or of an answer that exceeds a bound. */
  errorOf(path: string, fault: ForeignFault): ProtocolError | UnreachableError {
    if (fault.kind === 'missing') return new UnreachableError(this.url, fault.message, withoutQuery(path));
    return new ProtocolError(this.url, `${withoutQuery(path)}: ${fault.message}`);
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
    const ticket = await this.getForm(STREAM_TICKET_PATH, (answer) => answer.child('data').text('ticket'));
    return [STREAM_PROTOCOL, TICKET_PREFIX + ticket];
  }

  async #fetch<Body>(
    path: string,
    token: string | undefined,
    read: BodyReader<Body>,
    takesCompressed: boolean,
  ): Promise<RestAnswer<Body>> {
    const url = this.url + path;
    const headers = authorization(token);
    try {
      const open = await boundedFetch({ url, headers, takesCompressed, signal: this.#end }, this.#platform);
      const { status } = open;
      const isRead = status === 200;
      const answer = {
        status,
        body: isRead ? await read(open) : undefined,
        refusal: isRead ? '' : await open.refusalText(),
        link: open.headers.get('link') ?? undefined,
        retryAfterMs: retryAfterMsOf(open),
      };
      // The first answer cancels the other requests, but not the read of this body.
      open.detach();
      return answer;
    } catch (error) {
      throw error instanceof ForeignFault ? this.errorOf(path, error) : error;
    }
  }
}

type BodyReader<Body> = (open: BoundedAnswer) => Promise<Body>;

export interface RestAnswer<Body> {
  readonly status: number;
  /** The body; `undefined` for a status other than 200. */
  readonly body: Body | undefined;
  /** The beginning of the body of an answer with a status other than 200. */
  readonly refusal: string;
  /** The header `Link`. */
  readonly link: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** Returns a path without its query. */
export function withoutQuery(path: string): string {
  return path.split('?')[0]!;
}
