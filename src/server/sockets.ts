import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import type { Scope } from '../config/config.js';
import type { Token, TokenDirectory } from './auth.js';
import { readRequest, upgradeFault, writeResponse } from './http.js';
import { parseQuery } from './query.js';
import { denied, failure, type RestRequest, type RestResponse } from './rest.js';

export interface SocketLimits {
  /** Connections of all kinds per token. */
  readonly connectionsPerTokenMax: number;
  readonly streamConnectionsMax: number;
}

/** What every WebSocket carries. */
export interface SocketData {
  readonly token: Token;
  readonly scope: Scope;
}

/** The open WebSockets: who may open one, how many there are, and closing them all or by token. */
export class SocketRegistry {
  readonly #sockets = new Map<WebSocket<SocketData>, SocketData>();
  readonly #openByToken = new Map<Token, number>();
  readonly #tokens: TokenDirectory;
  readonly #limits: SocketLimits;
  #streams = 0;
  draining = false;

  constructor(tokens: TokenDirectory, limits: SocketLimits) {
    this.#tokens = tokens;
    this.#limits = limits;
  }

  get size(): number {
    return this.#sockets.size;
  }

  get streams(): number {
    return this.#streams;
  }

  /**
   * Decides an upgrade before it happens.
   * @param accept reads the query: the data of the new socket, or an error text.
   */
  upgrade<D extends SocketData>(
    res: HttpResponse,
    req: HttpRequest,
    context: us_socket_context_t,
    scope: Scope,
    accept: (query: ReadonlyMap<string, string>, token: Token) => D | string,
  ): void {
    const request = readRequest(res, req);
    const decision = this.#decide(request, scope, accept);
    if ('status' in decision) {
      writeResponse(res, request.method, decision);
      return;
    }
    const fault = upgradeFault(req);
    if (fault !== undefined) {
      writeResponse(res, request.method, fault);
      return;
    }
    res.upgrade(
      decision.data,
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
  }

  #decide<D>(
    request: RestRequest,
    scope: Scope,
    accept: (query: ReadonlyMap<string, string>, token: Token) => D | string,
  ): { readonly data: D } | RestResponse {
    if (request.hasBody)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    if (request.fault !== undefined) return failure(400, request.fault);
    const token = this.#tokens.authorize(request.authorization, scope);
    if ('status' in token) return denied(token);
    if (this.draining) return failure(503, 'the service is shutting down');
    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query);
    const data = accept(query, token);
    if (typeof data === 'string') return failure(400, data);
    const { connectionsPerTokenMax, streamConnectionsMax } = this.#limits;
    if ((this.#openByToken.get(token) ?? 0) >= connectionsPerTokenMax)
      return failure(429, `the token has connections_per_token (${connectionsPerTokenMax}) connections`);
    if (scope === 'stream' && this.#streams >= streamConnectionsMax)
      return failure(503, `the service has stream_connections (${streamConnectionsMax}) connections`);
    return { data };
  }

  opened(ws: WebSocket<SocketData>): void {
    const data = ws.getUserData();
    this.#sockets.set(ws, data);
    this.#openByToken.set(data.token, (this.#openByToken.get(data.token) ?? 0) + 1);
    if (data.scope === 'stream') this.#streams++;
  }

  closed(ws: WebSocket<SocketData>): void {
    const data = this.#sockets.get(ws);
    if (data === undefined) return;
    this.#sockets.delete(ws);
    if (data.scope === 'stream') this.#streams--;
    const left = this.#openByToken.get(data.token)! - 1;
    if (left === 0) this.#openByToken.delete(data.token);
    else this.#openByToken.set(data.token, left);
  }

  /** Closes the sockets whose token a reload has removed, or has taken the scope from. */
  closeRevoked(): void {
    for (const [ws, { token, scope }] of [...this.#sockets])
      if (!this.#tokens.isValid(token, scope)) ws.end(4401, 'the access token was revoked');
  }

  /** Refuses new sockets from now on and closes the open ones. */
  drain(): void {
    this.draining = true;
    for (const ws of [...this.#sockets.keys()]) ws.end(1001, 'the service is shutting down');
  }
}
