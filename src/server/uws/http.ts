import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { LoginHeaders } from '../../ingest/publisher_login.js';
import { LOGIN_HEADERS } from '../../wire/login_message.js';
import { REST_PATHS, SOCKET_PATHS } from '../../wire/paths.js';
import { failure, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import type { TurnBudget } from './turn_budget.js';

export type AnswerRest = (request: RestRequest) => RestResponse;

/** Serves all paths except those of WebSockets. @param turns shared by all requests of the thread */
export function serveRest(app: TemplatedApp, turns: TurnBudget, rest: AnswerRest): void {
  app.any('/*', (res, req) => {
    const request = new ReceivedRequest(res, req);
    if (request.hasBody && takesBody(request)) {
      answerWithBody(res, request, rest);
      return;
    }
    answerInTurn(res, request, turns, (received) => writeResponse(res, received.method, rest(received)));
  });
  for (const path of SOCKET_PATHS) {
    // An upgrade request that lacks a header of RFC 6455 comes here.
    app.any(path, (res, req) => {
      answerInTurn(res, readRequest(res, req), turns, ({ method, hasBody }) =>
        writeResponse(res, method, { ...NO_UPGRADE, closeConnection: hasBody }),
      );
    });
  }
}

/** Answers a request now, or in a later turn of the event loop when this one has no room for it. */
export function answerInTurn(
  res: HttpResponse,
  request: RestRequest,
  turns: TurnBudget,
  answer: (request: RestRequest) => void,
): void {
  if (turns.take()) {
    answer(request);
    return;
  }
  // The address can be read only now.
  const received = { ...request, address: request.address };
  let isOpen = true;
  res.onAborted(() => {
    isOpen = false;
  });
  turns.later(() => {
    if (isOpen) res.cork(() => answer(received));
  });
}

/** Recognises the only path that takes a body, a small one, for publishers that log in. */
function takesBody({ method, path }: RestRequest): boolean {
  return path === REST_PATHS.publisherMetadata && method.toUpperCase() === 'POST';
}

/** The largest body. */
const BODY_BYTES_MAX = 64 * 1024;

/** Answers after the body has arrived, and closes the connection. uWebSockets.js itself ends a connection whose body comes too slowly. */
function answerWithBody(res: HttpResponse, request: ReceivedRequest, rest: AnswerRest): void {
  const { method, bodyBytes } = request;
  if (bodyBytes === undefined || bodyBytes > BODY_BYTES_MAX) {
    const refusal =
      bodyBytes === undefined
        ? failure(400, 'a request body has one Content-Length, in digits, and no Transfer-Encoding')
        : failure(413, `the body has ${bodyBytes} bytes, at most ${BODY_BYTES_MAX} are taken`);
    writeResponse(res, method, { ...refusal, closeConnection: true });
    return;
  }
  const head = { ...request, address: request.address };
  const parts: Buffer[] = [];
  const whole = new Promise<string>((resolve) => {
    res.onData((part, isLast) => {
      // The bytes are only valid during the call.
      parts.push(Buffer.from(Buffer.from(part)));
      if (isLast) resolve(Buffer.concat(parts).toString());
    });
  });
  const response = whole
    .then((body) => rest({ ...head, body }))
    .then((known) => ({ ...known, closeConnection: true }));
  writeLater(res, method, response);
}

/** Copies the request for a handler: `req` is invalid after the handler returns. */
export function readRequest(res: HttpResponse, req: HttpRequest, upgradeFault?: RestResponse): RestRequest {
  return new ReceivedRequest(res, req, upgradeFault);
}

const LOGIN_HEADER_NAMES: ReadonlySet<string> = new Set(Object.values(LOGIN_HEADERS));
const NO_LOGIN: LoginHeaders = [];
const NONE: readonly string[] = [];

class ReceivedRequest implements RestRequest {
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
  /** The length of the body; `undefined` when the headers do not state it clearly. */
  readonly bodyBytes: number | undefined;
  readonly fault: string | undefined;
  readonly upgradeFault: RestResponse | undefined;
  readonly #res: HttpResponse;

  constructor(res: HttpResponse, req: HttpRequest, upgradeFault?: RestResponse) {
    const headers = readHeaders(req);
    const { lengths, isChunked } = headers;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    // The typings promise a string; without a `?` the value is not one.
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

  /** Readable only within the handler. Reading it takes 1.2 µs, 20 % of a whole request, and few callers need it. */
  get address(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString();
  }
}

/** The headers that are used. */
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
      // RFC 9112, section 3.2: a second Host is refused.
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

/** @returns the answer to an upgrade request that uWebSockets.js would accept although it violates RFC 6455, section 4.2.1. */
export function upgradeFaultOf(req: HttpRequest): RestResponse | undefined {
  if (req.getHeader('upgrade').toLowerCase() !== 'websocket') return NO_UPGRADE;
  return req.getHeader('sec-websocket-version') === '13'
    ? undefined
    : failure(426, 'Sec-WebSocket-Version is not 13', [['Sec-WebSocket-Version', '13']]);
}

const NO_UPGRADE = failure(426, 'this path takes WebSocket connections', [['Upgrade', 'websocket']]);

/** Sends a later response, unless the client has gone by then. */
export function writeLater(res: HttpResponse, method: string, response: Promise<RestResponse>): void {
  let isOpen = true;
  res.onAborted(() => {
    isOpen = false;
  });
  void response.then((known) => {
    if (isOpen) res.cork(() => writeResponse(res, method, known));
  });
}

/**
 * Sends a whole response, within the handler or a cork; a response that closes the connection is sent after the handler.
 *
 * uWebSockets.js continues to parse the same bytes when a handler has answered, and the bytes after a refused request may be a
 * smuggled one: two `Content-Length` headers are enough. While an answer is due it parses nothing and ends a connection that
 * sends more, so such an answer waits until these bytes are processed.
 */
export function writeResponse(res: HttpResponse, method: string, response: RestResponse): void {
  if (!response.closeConnection) {
    writeNow(res, method, response);
    return;
  }
  let isOpen = true;
  res.onAborted(() => {
    isOpen = false;
  });
  setImmediate(() => {
    if (isOpen) res.cork(() => writeNow(res, method, response));
  });
}

function writeNow(res: HttpResponse, method: string, response: RestResponse): void {
  const { status, headers, contentType = 'application/json', closeConnection = false } = response;
  // uWebSockets.js writes 200 by itself.
  if (status !== 200) res.writeStatus(`${status} ${REASON_BY_STATUS[status] ?? ''}`.trimEnd());
  if (BODILESS.has(status)) {
    for (const [name, value] of headers) res.writeHeader(name, value);
    res.endWithoutBody();
    return;
  }
  // All lines in one call, which takes half the time. No part of a request stands in a header, unless the configuration names it
  // as well.
  let lines = contentType;
  for (const [name, value] of headers) lines += `\r\n${name}: ${value}`;
  res.writeHeader('Content-Type', lines);
  // An answer to HEAD has no body.
  res.end(method === 'HEAD' ? '' : response.body, closeConnection);
}

/** No Content, and Not Modified. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

const REASON_BY_STATUS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
