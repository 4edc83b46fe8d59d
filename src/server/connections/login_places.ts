import { CLOSES } from '../../wire/close_codes.js';
import type { PublisherLogin, SignedLogin } from '../access/publisher_login_check.js';
import type { RateLimiter } from '../access/rate_limit.js';
import type { CallerCounts } from '../access/shared_access.js';
import { failure, type RestResponse } from '../http/rest_exchange.js';
import type { Connection, ConnectionEvents } from './connection.js';

/** The number of connections that one login may open. An agent opens one for each signature type. */
export const CONNECTIONS_PER_LOGIN = 4;
/** The time after a new update for which a connection keeps its place. */
const KEPT_MS = 10_000;
/** The interval at which a thread checks whether a newer login on another thread needs a place. */
const CHECK_MS = 500;

interface LoginConnection {
  readonly second: bigint;
  readonly events: ConnectionEvents;
}

export interface LoginPlacesOptions {
  readonly counts: CallerCounts;
  /** Limits the connections of each login. */
  readonly limiter: RateLimiter;
  /** The time for which a login is valid. */
  readonly validNs: bigint;
  readonly onUsedUp: () => void;
}

/**
 * The connections that publishers opened with logins by signature. Whoever has seen a login can repeat it, so the places of a key go to its
 * newest login, and to connections that send new updates.
 */
export class LoginPlaces {
  readonly #options: LoginPlacesOptions;
  readonly #open = new Map<PublisherLogin, Map<Connection, LoginConnection>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LoginPlacesOptions) {
    this.#options = options;
  }

  /** Counts a connection that a login opens. @returns the refusal of a connection past {@link CONNECTIONS_PER_LOGIN} */
  take({ publisher, second }: SignedLogin): RestResponse | undefined {
    const { limiter, validNs, onUsedUp } = this.#options;
    // The limiter allows the first connections at once. It would allow the next one after the time for which the login is valid.
    const allowance = limiter.take(
      `${publisher.name} ${second}`,
      CONNECTIONS_PER_LOGIN,
      BigInt(CONNECTIONS_PER_LOGIN) * validNs,
    );
    if (allowance.allowed) return undefined;
    onUsedUp();
    const error = `this login has opened ${CONNECTIONS_PER_LOGIN} connections: sign the present time, in the next second`;
    return failure(429, error, [['Retry-After', '1']]);
  }

  opened(socket: Connection, { publisher, second }: SignedLogin, events: ConnectionEvents): void {
    const connections = this.#open.get(publisher) ?? new Map<Connection, LoginConnection>();
    this.#open.set(publisher, connections);
    connections.set(socket, { second, events });
    this.#timer ??= setInterval(() => this.#makeRequestedRoom(), CHECK_MS).unref();
  }

  closed(socket: Connection, publisher: PublisherLogin): void {
    const connections = this.#open.get(publisher);
    if (connections?.delete(socket) && connections.size === 0) this.#open.delete(publisher);
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Ends a connection of the key in favour of a newer login. If this thread has no such connection, other threads are asked to end one.
   * @returns true if a connection of this thread ended
   */
  makeRoom({ publisher, second }: SignedLogin): boolean {
    if (this.#endOlder(publisher, second)) return true;
    const { counts } = this.#options;
    counts.requestPlace(counts.placeOf(publisher.identity), second);
    return false;
  }

  #makeRequestedRoom(): void {
    const { counts } = this.#options;
    for (const publisher of [...this.#open.keys()])
      counts.givePlace(counts.placeOf(publisher.identity), (second) => this.#endOlder(publisher, second));
  }

  /** Ends the connection with an older login that has sent no new update for the longest time. */
  #endOlder(publisher: PublisherLogin, second: bigint): boolean {
    let latestMs = performance.now() - KEPT_MS;
    let found: { readonly socket: Connection; readonly second: bigint } | undefined;
    for (const [socket, one] of this.#open.get(publisher) ?? []) {
      if (one.second >= second) continue;
      const newMs = one.events.newUpdateMs?.() ?? Number.NEGATIVE_INFINITY;
      if (newMs > latestMs || (found !== undefined && newMs === latestMs && one.second >= found.second))
        continue;
      found = { socket, second: one.second };
      latestMs = newMs;
    }
    found?.socket.close(CLOSES.newerLogin.code, CLOSES.newerLogin.reason);
    return found !== undefined;
  }
}
