import type { Scope } from '../config/config.js';
import type { Token, TokenDirectory } from './auth.js';
import { parseQuery } from './query.js';
import { denied, failure, type RestRequest } from './rest.js';
import type { Endpoint, OpenSocket, Socket } from './socket.js';
import type { UpgradeDecision } from './web_sockets.js';

export interface SocketLimits {
  /** Connections of all kinds per token. */
  readonly connectionsPerTokenMax: number;
  readonly streamConnectionsMax: number;
}

interface Entry {
  readonly token: Token;
  readonly scope: Scope;
}

/** The open WebSockets of all threads: who may open one, how many there are, and closing them all or by token. */
export class SocketRegistry {
  readonly #sockets = new Map<Socket, Entry>();
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

  /** Decides an upgrade before it happens. What it returns to open the socket with must be called at once. */
  decide({ scope, accept }: Endpoint, request: RestRequest): UpgradeDecision {
    if (request.hasBody)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    if (request.fault !== undefined) return failure(400, request.fault);
    const token = this.#tokens.authorize(request.authorization, scope);
    if ('status' in token) return denied(token);
    if (request.upgradeFault !== undefined) return request.upgradeFault;
    if (this.draining) return failure(503, 'the service is shutting down');
    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query);
    const open = accept(query, token);
    if (typeof open === 'string') return failure(400, open);
    const { connectionsPerTokenMax, streamConnectionsMax } = this.#limits;
    if ((this.#openByToken.get(token) ?? 0) >= connectionsPerTokenMax)
      return failure(429, `the token has connections_per_token (${connectionsPerTokenMax}) connections`);
    if (scope === 'stream' && this.#streams >= streamConnectionsMax)
      return failure(503, `the service has stream_connections (${streamConnectionsMax}) connections`);
    return this.#register({ token, scope }, open);
  }

  #register(entry: Entry, open: OpenSocket): OpenSocket {
    return (socket) => {
      this.#opened(socket, entry);
      const events = open(socket);
      return {
        ...events,
        closed: () => {
          this.#closed(socket, entry);
          events.closed();
        },
      };
    };
  }

  #opened(socket: Socket, entry: Entry): void {
    const { token, scope } = entry;
    this.#sockets.set(socket, entry);
    this.#openByToken.set(token, (this.#openByToken.get(token) ?? 0) + 1);
    if (scope === 'stream') this.#streams++;
  }

  #closed(socket: Socket, { token, scope }: Entry): void {
    this.#sockets.delete(socket);
    if (scope === 'stream') this.#streams--;
    const left = this.#openByToken.get(token)! - 1;
    if (left === 0) this.#openByToken.delete(token);
    else this.#openByToken.set(token, left);
  }

  /** Closes the sockets whose token a reload has removed, or has taken the scope from. */
  closeRevoked(): void {
    for (const [socket, { token, scope }] of [...this.#sockets])
      if (!this.#tokens.isValid(token, scope)) socket.close(4401, 'the access token was revoked');
  }

  /** Refuses new sockets from now on and closes the open ones. */
  drain(): void {
    this.draining = true;
    for (const socket of [...this.#sockets.keys()]) socket.close(1001, 'the service is shutting down');
  }
}
