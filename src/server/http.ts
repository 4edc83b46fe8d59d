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
      const response = failure(426, 'this path takes WebSocket connections', [['Upgrade', 'websocket']]);
      writeResponse(res, request.method, { ...response, closeConnection: request.hasBody });
    });
  }
}

const WEBSOCKET_PATHS = ['/ws', '/evm/publish', '/stark/publish'];

/** Copies what a handler needs: `req` is gone when the handler returns. */
export function readRequest(res: HttpResponse, req: HttpRequest): RestRequest {
  const authorization: string[] = [];
  let hasBody = false;
  req.forEach((name, value) => {
    if (name === 'authorization') authorization.push(value);
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
  };
}

/** Sends a response whole, within the handler. */
export function writeResponse(res: HttpResponse, method: string, response: RestResponse): void {
  const { status, headers, body, contentType = 'application/json', closeConnection = false } = response;
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
