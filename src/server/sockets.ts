import type { Scope } from '../config/config.js';
import type { Token, TokenDirectory } from './auth.js';
import { parseQuery } from './query.js';
import { denied, failure, type RestRequest } from './rest.js';
import type { Endpoint, Socket, SocketEvents } from './socket.js';
import type { UpgradeDecision } from './web_sockets.js';

export interface SocketLimits {
  /** Connections of all kinds per token. */
  readonly connectionsPerTokenMax: number;
  readonly streamConnectionsMax: number;
}

/** The sockets that one token has opened for one scope. */
interface Entry {
  readonly token: Token;
  readonly scope: Scope;
  readonly sockets: Set<Socket>;
}

/** The open WebSockets of all threads: who may open one, how many there are, and closing them all or by token. */
export class SocketRegistry {
  readonly #entries = new Map<Token, Entry[]>();
  readonly #tokens: TokenDirectory;
  readonly #limits: SocketLimits;
  #open = 0;
  #streams = 0;
  draining = false;

  constructor(tokens: TokenDirectory, limits: SocketLimits) {
    this.#tokens = tokens;
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
    const token = this.#tokens.authorize(request.authorization, scope);
    if ('status' in token) return denied(token);
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
    return (socket) => new RegisteredEvents(this, this.#opened(socket, token, scope), socket, open(socket));
  }

  #opened(socket: Socket, token: Token, scope: Scope): Entry {
    const entries = this.#entries.get(token) ?? [];
    if (entries.length === 0) this.#entries.set(token, entries);
    let entry = entries.find((one) => one.scope === scope);
    if (entry === undefined) {
      entry = { token, scope, sockets: new Set() };
      entries.push(entry);
    }
    entry.sockets.add(socket);
    this.#open++;
    if (scope === 'stream') this.#streams++;
    return entry;
  }

  /** Nothing happens on the socket any more. */
  closed(socket: Socket, { token, scope, sockets }: Entry): void {
    sockets.delete(socket);
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
      for (const socket of [...sockets]) socket.close(4401, 'the access token was revoked');
    }
  }

  /**
   * Refuses new sockets from now on and closes the open ones: a few at once, many spread over a time, so that not all of
   * their clients come to another instance in the same moment.
   */
  async drain(drainMs: number): Promise<void> {
    this.draining = true;
    const sockets = [...this.#all()].flatMap((entry) => [...entry.sockets]);
    const batchSize = Math.max(BATCH_MIN, Math.ceil((sockets.length * BATCH_INTERVAL_MS) / (drainMs + 1)));
    for (let at = 0; at < sockets.length; at += batchSize) {
      if (at > 0) await new Promise((resolve) => setTimeout(resolve, BATCH_INTERVAL_MS));
      // One that has gone by itself takes no close any more.
      for (const socket of sockets.slice(at, at + batchSize))
        socket.close(1001, 'the service is shutting down');
    }
  }
}

const BATCH_MIN = 50;
const BATCH_INTERVAL_MS = 50;

/** What happens on a registered socket, told on; the registry hears of its end. */
class RegisteredEvents implements SocketEvents {
  constructor(
    readonly registry: SocketRegistry,
    readonly entry: Entry,
    readonly socket: Socket,
    readonly events: SocketEvents,
  ) {}

  text(text: string): void {
    this.events.text(text);
  }

  oversize(messageBytes: number): void {
    this.events.oversize(messageBytes);
  }

  lagged(sequence: number): void {
    this.events.lagged(sequence);
  }

  drained(bufferedBytes: number): void {
    this.events.drained(bufferedBytes);
  }

  dropped(): void {
    this.events.dropped();
  }

  closed(): void {
    this.registry.closed(this.socket, this.entry);
    this.events.closed();
  }
}
