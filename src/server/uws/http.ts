import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { REST_PATHS, SOCKET_PATHS } from '../../wire/paths.js';
import { PartedBody } from '../http/parted_body.js';
import { headText, JSON_TYPE } from '../http/response_head.js';
import { failure, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import { writeParts } from './answer_parts.js';
import { ENDS_HEAD, utf8 } from './native.js';
import { ReceivedRequest, readRequest } from './received_request.js';
import type { TurnBudget } from './turn_budget.js';
import { UnreadAnswers } from './unread_answers.js';

export type AnswerRest = (request: RestRequest) => RestResponse;

export interface RestHost {
  readonly rest: AnswerRest;
  /** Limits refused requests. The answers of {@link rest} and of the decisions about upgrades are already limited. */
  readonly refused: { checked(request: RestRequest, response: RestResponse): RestResponse };
}

/** Serves all paths except the paths of WebSockets. @param turns the budget that all requests of the thread share */
export function serveRest(app: TemplatedApp, turns: TurnBudget, { rest, refused }: RestHost): void {
  const unread = new UnreadAnswers();
  const answer = (request: RestRequest, res: HttpResponse) =>
    writeResponse(res, request.method, rest(request), unread);
  // The router finds the method and the path anyway. A constant path also has a known hash, so the maps of routes find the path faster.
  for (const path of Object.values(REST_PATHS))
    app.get(path, (res, req) =>
      answerInTurn(res, new ReceivedRequest(res, req, undefined, path), turns, answer),
    );
  app.any('/*', (res, req) => {
    const request = new ReceivedRequest(res, req);
    const fault = methodFaultOf(request.method);
    if (fault !== undefined) {
      answerInTurn(res, request, turns, (received) =>
        writeResponse(res, received.method, refused.checked(received, fault)),
      );
      return;
    }
    if (request.hasBody && takesBody(request)) {
      answerWithBody(res, request, { rest, refused });
      return;
    }
    answerInTurn(res, request, turns, answer);
  });
  for (const path of SOCKET_PATHS) {
    // uWebSockets.js passes an upgrade request to this handler if the request lacks a header of RFC 6455.
    app.any(path, (res, req) => {
      answerInTurn(res, readRequest(res, req), turns, (request) =>
        writeResponse(
          res,
          request.method,
          refused.checked(request, {
            ...(methodFaultOf(request.method) ?? NO_UPGRADE),
            closeConnection: request.hasBody,
          }),
        ),
      );
    });
  }
}

/** Answers a request now, or in a later turn of the event loop when the budget of this turn is used up. */
export function answerInTurn(
  res: HttpResponse,
  request: RestRequest,
  turns: TurnBudget,
  answer: (request: RestRequest, res: HttpResponse) => void,
): void {
  if (turns.take()) {
    answer(request, res);
    return;
  }
  // The address is read now, because it cannot be read later.
  const received = { ...request, address: request.address };
  let isOpen = true;
  res.onAborted(() => {
    isOpen = false;
  });
  turns.later(() => {
    if (isOpen) res.cork(() => answer(received, res));
  });
}

/** Recognises the only path that accepts a body. The body is small, and comes from publishers that log in. */
function takesBody({ method, path }: RestRequest): boolean {
  return path === REST_PATHS.publisherMetadata && method === 'POST';
}

/** The largest size of a body. */
const BODY_BYTES_MAX = 64 * 1024;

/**
 * Answers after the body has arrived, and closes the connection. uWebSockets.js itself ends a connection whose body arrives too slowly.
 */
function answerWithBody(res: HttpResponse, request: ReceivedRequest, { rest, refused }: RestHost): void {
  const { method, bodyBytes } = request;
  if (bodyBytes === undefined || bodyBytes > BODY_BYTES_MAX) {
    const refusal =
      bodyBytes === undefined
        ? failure(400, 'a request body has one Content-Length, in digits, and no Transfer-Encoding')
        : failure(413, `the body has ${bodyBytes} bytes, at most ${BODY_BYTES_MAX} are taken`);
    writeResponse(res, method, refused.checked(request, { ...refusal, closeConnection: true }));
    return;
  }
  const head = { ...request, address: request.address };
  const parts: Buffer[] = [];
  const whole = new Promise<string>((resolve) => {
    res.onData((part, isLast) => {
      // The bytes must be copied, because they are only valid during the call.
      parts.push(Buffer.from(Buffer.from(part)));
      if (isLast) resolve(Buffer.concat(parts).toString());
    });
  });
  const response = whole
    .then((body) => rest({ ...head, body }))
    .then((known) => ({ ...known, closeConnection: true }));
  writeLater(res, method, response);
}

/** @returns the answer to an upgrade request that violates RFC 6455, section 4.2.1, although uWebSockets.js would accept it */
export function upgradeFaultOf(req: HttpRequest): RestResponse | undefined {
  if (req.getHeader('upgrade').toLowerCase() !== 'websocket') return NO_UPGRADE;
  return req.getHeader('sec-websocket-version') === '13'
    ? undefined
    : failure(426, 'Sec-WebSocket-Version is not 13', [['Sec-WebSocket-Version', '13']]);
}

const NO_UPGRADE = failure(
  426,
  'this path takes WebSocket connections: its address begins with ws:// or wss://',
  [['Upgrade', 'websocket']],
);

/** @returns the answer to a method that is not in capitals; names of methods are case-sensitive (RFC 9110, section 9.1) */
export function methodFaultOf(method: string): RestResponse | undefined {
  return method !== 'GET' && /[a-z]/.test(method) ? UNKNOWN_METHOD : undefined;
}

const UNKNOWN_METHOD: RestResponse = {
  ...failure(501, 'the method is not known: methods are in capitals'),
  closeConnection: true,
};

/**
 * Sends a later response, unless the client has disconnected before.
 * @param unread as in {@link writeResponse}
 * @param abandon called when the client has disconnected before
 */
export function writeLater(
  res: HttpResponse,
  method: string,
  response: Promise<RestResponse>,
  unread?: UnreadAnswers,
  abandon?: () => void,
): void {
  let isOpen = true;
  res.onAborted(() => {
    isOpen = false;
    abandon?.();
  });
  void response.then((known) => {
    if (isOpen) res.cork(() => writeResponse(res, method, known, unread));
  });
}

/**
 * Sends a whole response, within the handler or a cork. A response that closes the connection is sent after the handler.
 *
 * uWebSockets.js continues to parse the same bytes after a handler has answered. The bytes after a refused request may be a
 * smuggled request; two `Content-Length` headers are enough for such an attack. While an answer is due, uWebSockets.js parses
 * nothing, and ends a connection that sends more. So the function sends such an answer after uWebSockets.js has processed these
 * bytes.
 * @param unread bounds the answers that clients do not read; without it, uWebSockets.js keeps the whole answer
 */
export function writeResponse(
  res: HttpResponse,
  method: string,
  response: RestResponse,
  unread?: UnreadAnswers,
): void {
  if (response.later !== undefined) {
    const { later, abandon, ...known } = response;
    const whole = later.then((late) => ({ ...known, ...late, headers: [...known.headers, ...late.headers] }));
    writeLater(res, method, whole, unread, abandon);
    return;
  }
  if (!response.closeConnection) {
    writeNow(res, method, response, unread);
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

function writeNow(res: HttpResponse, method: string, response: RestResponse, unread?: UnreadAnswers): void {
  const { status, body, contentType = JSON_TYPE, closeConnection = false } = response;
  if (hasNoBody(status)) {
    res.writeStatus(headText(response, undefined));
    res.endWithoutBody();
    return;
  }
  if (method === 'HEAD') {
    writeHead(res, response);
    return;
  }
  // A single call writes the status and all lines, which takes half the time. No header contains text of a request, unless the
  // configuration contains the same text.
  const begin = () => res.writeStatus(headText(response, contentType));
  if (response.parts !== undefined) {
    const fail = () => writeNow(res, method, UNFINISHED);
    writeParts(res, { begin, parts: response.parts, closeConnection, fail });
    return;
  }
  begin();
  if (closeConnection || unread === undefined)
    res.end(utf8(body instanceof PartedBody ? body.toString() : body), closeConnection);
  else unread.end(res, body instanceof PartedBody ? body : utf8(body), response.payer ?? NO_PAYER);
}

/** Writes the head of the answer to GET, with the length of its body. No length is known where GET has another answer, or a long body. */
function writeHead(res: HttpResponse, response: RestResponse): void {
  const { status, headers, body, contentType = JSON_TYPE, closeConnection = false, parts } = response;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const isKnown = status !== 405 && parts === undefined;
  if (closeConnection && ENDS_HEAD) {
    res.writeStatus(headText(response, contentType));
    res.endWithoutBody(length, true);
    return;
  }
  if (closeConnection) {
    // `end` would write the length 0. After `tryEnd` the answer is incomplete for uWebSockets.js, which therefore parses no more bytes.
    let isOpen = true;
    res.onAborted(() => {
      isOpen = false;
    });
    res.writeStatus(headText({ ...response, headers: [...headers, ['Connection', 'close']] }, contentType));
    if (res.tryEnd('', length)[1]) return;
    setImmediate(() => {
      if (isOpen) res.close();
    });
    return;
  }
  // With a length as its argument, `endWithoutBody` leaves the answer incomplete, and the next request would end the connection.
  const lines = isKnown ? [...headers, ['Content-Length', String(length)] as const] : headers;
  res.writeStatus(headText({ ...response, headers: lines }, contentType));
  res.endWithoutBody();
}

/** The answer instead of one whose body cannot be made. */
const UNFINISHED = failure(
  503,
  'the answer could not be made, perhaps because its files changed: ask again',
  [['Retry-After', '1']],
);

/** The payer of answers that no rate limit counts. */
const NO_PAYER = '';

/** Returns true for the statuses of answers without a body: No Content, and Not Modified. */
function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}
