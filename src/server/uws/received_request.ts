import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { LoginHeaders } from '../../prices/publisher_login.js';
import { LOGIN_HEADERS } from '../../wire/login_message.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';

/** Copies the request for a handler, because `req` is invalid after the handler returns. */
export function readRequest(res: HttpResponse, req: HttpRequest, upgradeFault?: RestResponse): RestRequest {
  return new ReceivedRequest(res, req, upgradeFault);
}

const LOGIN_HEADER_NAMES: ReadonlySet<string> = new Set(Object.values(LOGIN_HEADERS));
const NO_LOGIN: LoginHeaders = [];
const NONE: readonly string[] = [];

/** The request whose headers are being read. A separate function for each request would take 2 % of the time of the request. */
let receiving: ReceivedRequest | undefined;

/**
 * A request whose texts are copied, except the address. The fields of the headers belong to the request itself and not to a second
 * object, because that object would take 3 % of the time of a request.
 */
export class ReceivedRequest implements RestRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  authorization: readonly string[] = NONE;
  forwardedFor: readonly string[] = NONE;
  login: LoginHeaders = NO_LOGIN;
  origin: string | undefined = undefined;
  host: string | undefined = undefined;
  preflightMethod: string | undefined = undefined;
  protocols: readonly string[] | undefined = undefined;
  acceptEncoding: string | undefined = undefined;
  ifNoneMatch: string | undefined = undefined;
  lastEventId: string | undefined = undefined;
  hasBody = false;
  fault: string | undefined = undefined;
  readonly upgradeFault: RestResponse | undefined;
  readonly #res: HttpResponse;
  #lengths: readonly string[] = NONE;
  #isChunked = false;

  /** @param getPath the path, if the router has already found the method `GET` and this path */
  constructor(res: HttpResponse, req: HttpRequest, upgradeFault?: RestResponse, getPath?: string) {
    this.#res = res;
    this.upgradeFault = upgradeFault;
    this.method = getPath === undefined ? req.getCaseSensitiveMethod() : 'GET';
    this.path = getPath ?? req.getUrl();
    // The type declarations promise a string, but the value is `undefined` for a request without `?`.
    this.query = (req.getQuery() as string | undefined) ?? '';
    receiving = this;
    req.forEach(ReceivedRequest.#takeHeader);
  }

  /**
   * The client address, readable only within the handler. The class does not copy the address, because reading the address takes
   * 1.2 µs (20 % of a whole request) and few callers need it.
   */
  get address(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString();
  }

  /** The length of the body; `undefined` when the headers are ambiguous about the length. */
  get bodyBytes(): number | undefined {
    const [length] = this.#lengths;
    return !this.#isChunked && length !== undefined && this.#lengths.length === 1 && /^\d{1,9}$/.test(length)
      ? Number(length)
      : undefined;
  }

  static readonly #takeHeader = (name: string, value: string): void => receiving!.#readHeader(name, value);

  #readHeader(name: string, value: string): void {
    switch (name) {
      case 'authorization':
        this.authorization = appended(this.authorization, value);
        break;
      case 'x-forwarded-for':
        this.forwardedFor = appended(this.forwardedFor, value);
        break;
      case 'host':
        // A second Host header is refused, as RFC 9112, section 3.2 requires.
        if (this.host !== undefined) this.fault = 'the Host header is repeated';
        this.host = value;
        break;
      case 'origin':
        if (this.origin !== undefined) this.fault = 'the Origin header is repeated';
        this.origin = value;
        break;
      case 'access-control-request-method':
        this.preflightMethod = value;
        break;
      case 'sec-websocket-protocol':
        this.protocols = [...(this.protocols ?? NONE), ...value.split(',').map((one) => one.trim())];
        break;
      case 'accept-encoding':
        this.acceptEncoding = value;
        break;
      case 'if-none-match':
        this.ifNoneMatch = value;
        break;
      case 'last-event-id':
        this.lastEventId = value;
        break;
      case 'content-length':
        this.#lengths = appended(this.#lengths, value);
        if (value !== '0') this.hasBody = true;
        break;
      case 'transfer-encoding':
        this.#isChunked = true;
        this.hasBody = true;
        break;
      default:
        if (LOGIN_HEADER_NAMES.has(name)) this.login = [...this.login, [name, value]];
    }
  }
}

/** Returns the values of a header with one more value. Almost every header has a single value. */
function appended(values: readonly string[], value: string): readonly string[] {
  return values === NONE ? [value] : [...values, value];
}
