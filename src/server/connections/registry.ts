import type { Scope } from '../../config/config.js';
import { CLOSED_CONTROL_COST } from '../../model/control_count.js';
import { Roster } from '../../model/roster.js';
import type { Clock } from '../../model/time.js';
import { CLOSES, type Close } from '../../wire/close_codes.js';
import type { AddressConnections } from '../access/address_connections.js';
import type { BudgetDirectory } from '../access/caller_budgets.js';
import { type Caller, type Logins, offersTicket } from '../access/logins.js';
import type { Access } from '../access/open_access.js';
import { SignedLogin } from '../access/publisher_login_check.js';
import type { CallerCounts } from '../access/shared_access.js';
import { Token } from '../access/tokens.js';
import { parseQuery } from '../http/query.js';
import { failure, type RestRequest, type RestResponse } from '../http/rest_exchange.js';

import type { Connection, ConnectionOwner, Endpoint, UpgradeDecision } from './connection.js';
import { LoginPlaces } from './login_places.js';

export interface ConnectionLimits {
  readonly controlMessagesPerSecondMax: number;
  /** `limits.connections_per_address` */
  readonly connectionsPerAddressMax: number;
  /** The maximum number of connections of all kinds for each token, and for each key that logged in by signature. */
  readonly connectionsPerTokenMax: number;
  /** The maximum number of publishers' connections, counted like {@link connectionsPerTokenMax}. */
  readonly publishConnectionsPerTokenMax: number;
  readonly streamConnectionsMax: number;
}

/** The sockets of a caller with the same scope and the same name. A reload may rename a token. */
class RegisteredConnection implements ConnectionOwner {
  readonly sockets = new Roster<'ownerPlace', Connection>('ownerPlace');

  constructor(
    readonly caller: Caller,
    readonly scope: Scope,
    /** The index of the caller in the counts of connections. */
    readonly place: number,
    readonly onClosed: (entry: RegisteredConnection, socket: Connection) => void,
  ) {}

  add(socket: Connection): void {
    socket.owner = this;
    this.sockets.add(socket);
  }

  closed(socket: Connection): void {
    this.sockets.delete(socket);
    this.onClosed(this, socket);
  }
}

/**
 * The open WebSockets of a thread. The registry decides which sockets may open, and counts the sockets. It can close all sockets, or the
 * sockets of a caller.
 */
export class ConnectionRegistry {
  readonly #entries = new Map<Caller, RegisteredConnection[]>();
  readonly #logins: Logins;
  readonly #limits: ConnectionLimits;
  /** The counts of connections on all threads. */
  readonly #counts: CallerCounts;
  readonly #budgets: BudgetDirectory;
  readonly #clock: Clock;
  readonly #addresses: AddressConnections;
  readonly #loginPlaces: LoginPlaces;
  #open = 0;
  #streams = 0;
  draining = false;

  constructor(access: Access, limits: ConnectionLimits, clock: Clock) {
    const { logins, loginConnections: limiter, loginValidNs: validNs, callers: counts, budgets } = access;
    const onUsedUp = () => access.countRefusedLogin('used up');
    this.#logins = logins;
    this.#limits = limits;
    this.#counts = counts;
    this.#addresses = access.addresses;
    this.#loginPlaces = new LoginPlaces({ counts, limiter, validNs, onUsedUp });
    this.#budgets = budgets;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open;
  }

  get streams(): number {
    return this.#streams;
  }

  /**
   * Decides whether to accept an upgrade request. If the socket may open, the caller must call the returned function immediately.
   */
  decide({ scope, loginType, accept }: Endpoint, request: RestRequest): UpgradeDecision {
    if (request.hasBody)
      return { ...failure(400, 'a request body is not accepted here'), closeConnection: true };
    if (request.fault !== undefined) return failure(400, request.fault);
    const login = this.#authorize(request, scope, loginType);
    if ('status' in login) return login;
    const caller = login instanceof SignedLogin ? login.publisher : login;
    if (request.upgradeFault !== undefined) return request.upgradeFault;
    if (this.draining) return failure(503, 'the service is shutting down', [['Retry-After', '1']]);
    const query = parseQuery(request.query);
    if (typeof query === 'string') return failure(400, query);
    if (this.#hasFlooded(caller)) return failure(429, CLOSES.controlFlood.reason);
    const open = accept(query, caller);
    if (typeof open !== 'function') return open;
    const addressPlace = this.#addresses.openSocket(request.address);
    if (addressPlace === undefined) {
      const error = `the address has connections_per_address (${this.#limits.connectionsPerAddressMax}) connections`;
      return failure(429, error);
    }
    const place = this.#counts.placeOf(caller.identity);
    const refusal = this.#countOpened(login, caller, scope, place);
    if (refusal !== undefined) {
      this.#addresses.closeSocket(addressPlace);
      return refusal;
    }
    return (socket) => {
      socket.addressPlace = addressPlace;
      this.#addOpened(socket, caller, scope, place);
      const events = open(socket);
      if (login instanceof SignedLogin) this.#loginPlaces.opened(socket, login, events);
      return events;
    };
  }

  /**
   * Counts a connection of a caller. A login by signature may end another connection of its key.
   * @returns a response that names the limit, if the connection is past a limit and was not counted
   */
  #countOpened(
    login: Token | SignedLogin,
    caller: Caller,
    scope: Scope,
    place: number,
  ): RestResponse | undefined {
    const usedUp = login instanceof SignedLogin ? this.#loginPlaces.take(login) : undefined;
    if (usedUp !== undefined) return usedUp;
    const makeRoom = () => login instanceof SignedLogin && this.#loginPlaces.makeRoom(login);
    const { connectionsPerTokenMax, publishConnectionsPerTokenMax, streamConnectionsMax } = this.#limits;
    const owner = caller instanceof Token ? 'token' : 'key';
    const open = () => this.#counts.open(place, connectionsPerTokenMax);
    const openPublisher = () => this.#counts.openPublisher(place, publishConnectionsPerTokenMax);
    if (!open() && !(makeRoom() && open()))
      return failure(429, `the ${owner} has connections_per_token (${connectionsPerTokenMax}) connections`);
    if (scope === 'publish' && !openPublisher() && !(makeRoom() && openPublisher())) {
      this.#counts.close(place);
      return failure(
        429,
        `the ${owner} has publish_connections_per_token (${publishConnectionsPerTokenMax}) connections of publishers`,
      );
    }
    if (scope === 'stream' && !this.#counts.openStream(streamConnectionsMax)) {
      this.#counts.close(place);
      return failure(503, `the service has stream_connections (${streamConnectionsMax}) connections`);
    }
    return undefined;
  }

  /**
   * Returns whether the caller must wait before its next connection, because floods of control messages have closed too many of the
   * caller's connections.
   */
  #hasFlooded(caller: Caller): boolean {
    const { controlMessages } = this.#budgets.of(caller);
    const cost = CLOSED_CONTROL_COST * this.#limits.controlMessagesPerSecondMax;
    if (controlMessages.has(cost, this.#clock.nowNs())) return false;
    controlMessages.countRefusal();
    return true;
  }

  /** Authorizes a request: with a signature on publisher paths, with a ticket for streams, otherwise with a token. */
  #authorize(
    request: RestRequest,
    scope: Scope,
    loginType: Endpoint['loginType'],
  ): Token | SignedLogin | RestResponse {
    if (loginType !== undefined && request.login.length > 0)
      return this.#logins.authorizePublisher(request, loginType);
    return scope === 'stream' && offersTicket(request)
      ? this.#logins.authorizeTicket(request)
      : this.#logins.authorize(request, scope);
  }

  #addOpened(socket: Connection, caller: Caller, scope: Scope, place: number): void {
    const entries = this.#entries.get(caller) ?? [];
    if (entries.length === 0) this.#entries.set(caller, entries);
    let entry = entries.find((one) => one.scope === scope && one.place === place);
    if (entry === undefined) {
      entry = new RegisteredConnection(caller, scope, place, (...closed) => this.#removeClosed(...closed));
      entries.push(entry);
    }
    entry.add(socket);
    this.#open++;
    if (scope === 'stream') this.#streams++;
  }

  /** Removes a socket that has closed. */
  #removeClosed({ caller, scope, place }: RegisteredConnection, socket: Connection): void {
    this.#open--;
    this.#addresses.closeSocket(socket.addressPlace);
    if (!(caller instanceof Token)) this.#loginPlaces.closed(socket, caller);
    this.#counts.close(place);
    if (scope === 'publish') this.#counts.closePublisher(place);
    if (scope === 'stream') {
      this.#streams--;
      this.#counts.closeStream();
    }
    if (this.#entries.get(caller)!.every((one) => one.sockets.size === 0)) this.#entries.delete(caller);
  }

  *#all(): Iterable<RegisteredConnection> {
    for (const entries of this.#entries.values()) yield* entries;
  }

  /** Closes the sockets whose token, key or scope a reload has removed. */
  closeRevoked(): void {
    for (const { caller, scope, sockets } of [...this.#all()]) {
      if (this.#logins.isValid(caller, scope)) continue;
      const how = caller instanceof Token ? CLOSES.tokenRevoked : CLOSES.keyRemoved;
      for (const socket of [...sockets]) closeSocket(socket, how);
    }
  }

  /**
   * Refuses new sockets from now on, and closes the open sockets. Many sockets are closed in batches, so that clients do not all connect to
   * another instance at the same moment.
   */
  async drain(drainMs: number): Promise<void> {
    this.draining = true;
    const sockets = [...this.#all()].flatMap(({ sockets }) => [...sockets]);
    const batchSize = Math.max(BATCH_MIN, Math.ceil((sockets.length * BATCH_INTERVAL_MS) / (drainMs + 1)));
    for (let at = 0; at < sockets.length; at += batchSize) {
      if (at > 0) await new Promise((resolve) => setTimeout(resolve, BATCH_INTERVAL_MS));
      // Closing a socket that is already closed does nothing.
      for (const socket of sockets.slice(at, at + batchSize)) closeSocket(socket, CLOSES.shuttingDown);
    }
  }
}

function closeSocket(socket: Connection, { code, reason }: Close): void {
  socket.close(code, reason);
}

const BATCH_MIN = 50;
const BATCH_INTERVAL_MS = 50;
