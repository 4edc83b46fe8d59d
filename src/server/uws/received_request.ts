import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { LoginHeaders } from '../../ingest/publisher_login.js';
import { LOGIN_HEADERS } from '../../wire/login_message.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';

/** Copies the request for a handler, because `req` is invalid after the handler returns. */
export function readRequest(res: HttpResponse, req: HttpRequest, upgradeFault?: RestResponse): RestRequest {
  return new ReceivedRequest(res, req, upgradeFault);
}

const LOGIN_HEADER_NAMES: ReadonlySet<string> = new Set(Object.values(LOGIN_HEADERS));
const NO_LOGIN: LoginHeaders = [];
const NONE: readonly string[] = [];

/** A request whose texts are copied, except the address. */
export class ReceivedRequest implements RestRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly authorization: readonly string[];
  readonly forwardedFor: readonly string[];
  readonly login: LoginHeaders;
  readonly origin: string | undefined;
  readonly host: string | undefined;
  readonly preflightMethod: string | undefined;
  readonly protocols: readonly string[] | undefined;
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly hasBody: boolean;
  /** The length of the body; `undefined` when the headers are ambiguous about the length. */
  readonly bodyBytes: number | undefined;
  readonly fault: string | undefined;
  readonly upgradeFault: RestResponse | undefined;
  readonly #res: HttpResponse;

  constructor(res: HttpResponse, req: HttpRequest, upgradeFault?: RestResponse) {
    const headers = readHeaders(req);
    const { lengths, isChunked } = headers;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    // The type declarations promise a string, but the value is `undefined` for a request without `?`.
    this.query = (req.getQuery() as string | undefined) ?? '';
    this.authorization = headers.authorization;
    this.forwardedFor = headers.forwardedFor;
    this.login = headers.login ?? NO_LOGIN;
    this.origin = headers.origin;
    this.host = headers.host;
    this.preflightMethod = headers.preflightMethod;
    this.protocols = headers.protocols;
    this.acceptEncoding = headers.acceptEncoding;
    this.ifNoneMatch = headers.ifNoneMatch;
    this.hasBody = isChunked || lengths.some((length) => length !== '0');
    const [length] = lengths;
    this.bodyBytes =
      !isChunked && length !== undefined && lengths.length === 1 && /^\d{1,9}$/.test(length)
        ? Number(length)
        : undefined;
    this.fault = headers.fault;
    this.upgradeFault = upgradeFault;
    this.#res = res;
  }

  /**
   * The client address, readable only within the handler. The class does not copy the address, because reading the address takes
   * 1.2 µs (20 % of a whole request) and few callers need it.
   */
  get address(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString();
  }
}

/** The headers that the service uses. */
interface Headers {
  authorization: readonly string[];
  forwardedFor: readonly string[];
  lengths: readonly string[];
  isChunked: boolean;
  login: [name: string, value: string][] | undefined;
  origin: string | undefined;
  host: string | undefined;
  preflightMethod: string | undefined;
  protocols: string[] | undefined;
  acceptEncoding: string | undefined;
  ifNoneMatch: string | undefined;
  fault: string | undefined;
}

function readHeaders(req: HttpRequest): Headers {
  const headers: Headers = {
    authorization: NONE,
    forwardedFor: NONE,
    lengths: NONE,
    isChunked: false,
    login: undefined,
    origin: undefined,
    host: undefined,
    preflightMethod: undefined,
    protocols: undefined,
    acceptEncoding: undefined,
    ifNoneMatch: undefined,
    fault: undefined,
  };
  req.forEach((name, value) => {
    takeHeader(headers, name, value);
  });
  return headers;
}

function takeHeader(headers: Headers, name: string, value: string): void {
  switch (name) {
    case 'authorization':
      headers.authorization = [...headers.authorization, value];
      break;
    case 'x-forwarded-for':
      headers.forwardedFor = [...headers.forwardedFor, value];
      break;
    case 'host':
      // A second Host header is refused, as RFC 9112, section 3.2 requires.
      if (headers.host !== undefined) headers.fault = 'the Host header is repeated';
      headers.host = value;
      break;
    case 'origin':
      if (headers.origin !== undefined) headers.fault = 'the Origin header is repeated';
      headers.origin = value;
      break;
    case 'access-control-request-method':
      headers.preflightMethod = value;
      break;
    case 'sec-websocket-protocol':
      headers.protocols ??= [];
      for (const protocol of value.split(',')) headers.protocols.push(protocol.trim());
      break;
    case 'accept-encoding':
      headers.acceptEncoding = value;
      break;
    case 'if-none-match':
      headers.ifNoneMatch = value;
      break;
    case 'content-length':
      headers.lengths = [...headers.lengths, value];
      break;
    case 'transfer-encoding':
      headers.isChunked = true;
      break;
    default:
      if (!LOGIN_HEADER_NAMES.has(name)) return;
      headers.login ??= [];
      headers.login.push([name, value]);
  }
}
