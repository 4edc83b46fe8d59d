import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { failure, type RestRequest, type RestResponse } from './rest.js';

/** Answers a request, by calling `answer` once, at once or later. */
export type AnswerRest = (request: RestRequest, answer: (response: RestResponse) => void) => void;

/** Serves every path that no WebSocket takes. */
export function serveRest(app: TemplatedApp, rest: AnswerRest): void {
  app.any('/*', (res, req) => {
    const request = readRequest(res, req);
    let pending = true;
    rest(request, (response) => {
      if (pending) writeResponse(res, request.method, response);
      pending = false;
    });
    if (!pending) return;
    res.onAborted(() => {
      pending = false;
    });
  });
  for (const path of WEBSOCKET_PATHS) {
    // An upgrade that lacks what RFC 6455 asks for comes here.
    app.any(path, (res, req) => {
      const request = readRequest(res, req);
      writeResponse(res, request.method, { ...NO_UPGRADE, closeConnection: request.hasBody });
    });
  }
}

const WEBSOCKET_PATHS = ['/ws', '/evm/publish', '/stark/publish'];

/** Copies what a handler needs: `req` is gone when the handler returns. */
export function readRequest(res: HttpResponse, req: HttpRequest): RestRequest {
  const authorization: string[] = [];
  let hasBody = false;
  let hosts = 0;
  let fault: string | undefined;
  req.forEach((name, value) => {
    if (name === 'authorization') authorization.push(value);
    // RFC 9112, section 3.2: a second Host is refused.
    else if (name === 'host' && ++hosts > 1) fault = 'the Host header is repeated';
    else if (name === 'content-length') hasBody ||= value !== '0';
    else if (name === 'transfer-encoding') hasBody = true;
  });
  return {
    method: req.getCaseSensitiveMethod(),
    path: req.getUrl(),
    // The typings promise a string; without a `?` there is none.
    query: (req.getQuery() as string | undefined) ?? '',
    authorization,
    address: Buffer.from(res.getRemoteAddressAsText()).toString(),
    hasBody,
    ...(fault !== undefined && { fault }),
  };
}

/** @returns what an upgrade request that uWebSockets.js would take lacks of RFC 6455, section 4.2.1. */
export function upgradeFaultOf(req: HttpRequest): RestResponse | undefined {
  if (req.getHeader('upgrade').toLowerCase() !== 'websocket') return NO_UPGRADE;
  return req.getHeader('sec-websocket-version') === '13'
    ? undefined
    : failure(426, 'Sec-WebSocket-Version is not 13', [['Sec-WebSocket-Version', '13']]);
}

const NO_UPGRADE = failure(426, 'this path takes WebSocket connections', [['Upgrade', 'websocket']]);

/**
 * Sends a response whole, within the handler; one that closes the connection after it.
 *
 * uWebSockets.js parses on in the same bytes when a handler has answered, and what it finds behind a refused request may
 * be a smuggled one: two `Content-Length` headers are enough. While an answer is due it parses nothing and ends a
 * connection that sends more, so such an answer waits until these bytes are done with.
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
    if (isOpen) writeNow(res, method, response);
  });
}

function writeNow(res: HttpResponse, method: string, response: RestResponse): void {
  const { status, headers, contentType = 'application/json', closeConnection = false } = response;
  const body = response.encoded ?? response.body;
  res.cork(() => {
    res.writeStatus(`${status} ${REASON_BY_STATUS[status] ?? ''}`.trimEnd());
    res.writeHeader('Content-Type', contentType);
    for (const [name, value] of headers) res.writeHeader(name, value);
    // An answer to HEAD has no body.
    res.end(method === 'HEAD' ? '' : body, closeConnection);
  });
}

const REASON_BY_STATUS: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
