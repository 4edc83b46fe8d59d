import type { Scope } from '../../config/config.js';
import { Roster } from '../../model/roster.js';
import { CLOSES, type Close } from '../../wire/close_codes.js';
import type { Logins } from '../access/logins.js';
import type { Token, TokenDirectory } from '../access/tokens.js';
import { failure, type RestRequest } from '../http/messages.js';
import { parseQuery } from '../http/query.js';

import type { Connection, ConnectionOwner, Endpoint, UpgradeDecision } from './connection.js';

export interface ConnectionLimits {
  /** Connections of all kinds per token. */
  readonly connectionsPerTokenMax: number;
  readonly streamConnectionsMax: number;
}

/** The sockets that one token has opened for one scope. */
class Entry implements ConnectionOwner {
  readonly sockets = new Roster<'ownerPlace', Connection>('ownerPlace');

  constructor(
    readonly token: Token,
    readonly scope: Scope,
    readonly onClosed: (entry: Entry) => void,
  ) {}

  add(socket: Connection): void {
    socket.owner = this;
    this.sockets.add(socket);
  }

  closed(socket: Connection): void {
    this.sockets.delete(socket);
    this.onClosed(this);
  }
}

/** The open WebSockets of all threads: who may open one, how many there are, and closing them all or by token. */
export class ConnectionRegistry {
  readonly #entries = new Map<Token, Entry[]>();
  readonly #tokens: TokenDirectory;
  readonly #logins: Logins;
  readonly #limits: ConnectionLimits;
  #open = 0;
  #streams = 0;
  draining = false;

  constructor(tokens: TokenDirectory, logins: Logins, limits: ConnectionLimits) {
    this.#tokens = tokens;
    this.#logins = logins;
    this.#limits = limits;
  }

  get size(): number {
    return this.#open;
  }

  get streams(): number {
    return this.#streams;
  }

  /** Decides an upgrade before it happens. What it returns to open the socket with must be called at once. */
  decide({ scope, accept }: Endpoint, request: RestRequest): UpgradeDecision {
    if (request.hasBody)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    if (request.fault !== undefined) return failure(400, request.fault);
    const token = this.#logins.authorize(request, scope);
    if ('status' in token) return token;
    if (request.upgradeFault !== undefined) return request.upgradeFault;
    if (this.draining) return failure(503, 'the service is shutting down');
    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query);
    const open = accept(query, token);
    if (typeof open === 'string') return failure(400, open);
    const { connectionsPerTokenMax, streamConnectionsMax } = this.#limits;
    const entries = this.#entries.get(token) ?? [];
    if (entries.reduce((open, { sockets }) => open + sockets.size, 0) >= connectionsPerTokenMax)
      return failure(429, `the token has connections_per_token (${connectionsPerTokenMax}) connections`);
    if (scope === 'stream' && this.#streams >= streamConnectionsMax)
      return failure(503, `the service has stream_connections (${streamConnectionsMax}) connections`);
    return (socket) => {
      this.#opened(socket, token, scope);
      return open(socket);
    };
  }

  #opened(socket: Connection, token: Token, scope: Scope): void {
    const entries = this.#entries.get(token) ?? [];
    if (entries.length === 0) this.#entries.set(token, entries);
    let entry = entries.find((one) => one.scope === scope);
    if (entry === undefined) {
      entry = new Entry(token, scope, (one) => this.#closed(one));
      entries.push(entry);
    }
    entry.add(socket);
    this.#open++;
    if (scope === 'stream') this.#streams++;
  }

  /** One of its sockets is closed. */
  #closed({ token, scope }: Entry): void {
    this.#open--;
    if (scope === 'stream') this.#streams--;
    if (this.#entries.get(token)!.every((one) => one.sockets.size === 0)) this.#entries.delete(token);
  }

  *#all(): Iterable<Entry> {
    for (const entries of this.#entries.values()) yield* entries;
  }

  /** Closes the sockets whose token a reload has removed, or has taken the scope from. */
  closeRevoked(): void {
    for (const { token, scope, sockets } of [...this.#all()]) {
      if (this.#tokens.isValid(token, scope)) continue;
      for (const socket of [...sockets.members]) close(socket, CLOSES.tokenRevoked);
    }
  }

  /**
   * Refuses new sockets from now on and closes the open ones: a few at once, many spread over a time, so that not all of
   * their clients come to another instance in the same moment.
   */
  async drain(drainMs: number): Promise<void> {
    this.draining = true;
    const sockets = [...this.#all()].flatMap(({ sockets }) => sockets.members);
    const batchSize = Math.max(BATCH_MIN, Math.ceil((sockets.length * BATCH_INTERVAL_MS) / (drainMs + 1)));
    for (let at = 0; at < sockets.length; at += batchSize) {
      if (at > 0) await new Promise((resolve) => setTimeout(resolve, BATCH_INTERVAL_MS));
      // One that has gone by itself takes no close any more.
      for (const socket of sockets.slice(at, at + batchSize)) close(socket, CLOSES.shuttingDown);
    }
  }
}

function close(socket: Connection, { code, reason }: Close): void {
  socket.close(code, reason);
}

const BATCH_MIN = 50;
const BATCH_INTERVAL_MS = 50;
