import { Roster } from '../../model/roster.js';
import { CLOSES } from '../../wire/close_codes.js';

/** The methods of a socket for idle timeouts, and the fields in which the timeouts store their state. */
export interface IdleTimed {
  readonly path: { readonly idleTimeoutSeconds: number };
  idlePlace: number;
  /** The time at which the last whole message, ping or pong arrived, in seconds of the clock of the timeouts. */
  seenAtS: number;
  /** True when nothing has arrived since the last ping of the service. */
  isPinged: boolean;
  ping(): void;
  close(code: number, reason: string): void;
}

/** The interval of checks. */
const CHECK_MS = 1_000;

/**
 * Closes connections that sent no whole message, ping or pong within the idle timeout. uWebSockets.js closes only connections
 * that send no bytes at all, so a message that never ends could keep a connection open with one byte per second. The service
 * pings a silent connection after the ping interval, and after half of the idle timeout at the latest: the answer also keeps proxies from
 * ending the connection.
 */
export class IdleTimeouts<C extends IdleTimed> {
  readonly #connections = new Roster<'idlePlace', C>('idlePlace');
  readonly #nowMs: () => number;
  readonly #pingIntervalSeconds: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(nowMs: () => number, pingIntervalSeconds: number) {
    this.#nowMs = nowMs;
    this.#pingIntervalSeconds = pingIntervalSeconds;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Starts to call {@link check}. The timer does not keep the thread alive. */
  start(): void {
    this.#timer = setInterval(() => this.check(), CHECK_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  add(connection: C): void {
    this.#connections.add(connection);
    this.received(connection);
  }

  /** Records that a whole message, ping or pong arrived. */
  received(connection: C): void {
    // A time in whole seconds needs no separate memory in V8. The code rounds the time up, so no connection ends early.
    connection.seenAtS = Math.ceil(this.#nowMs() / 1_000);
    connection.isPinged = false;
  }

  delete(connection: C): void {
    this.#connections.delete(connection);
  }

  check(): void {
    const nowS = Math.floor(this.#nowMs() / 1_000);
    for (let i = this.#connections.size - 1; i >= 0; i--) {
      const connection = this.#connections.at(i);
      const { idleTimeoutSeconds } = connection.path;
      const silentS = nowS - connection.seenAtS;
      if (silentS >= idleTimeoutSeconds) {
        connection.close(CLOSES.idle.code, CLOSES.idle.reason);
      } else if (
        !connection.isPinged &&
        silentS >= Math.min(idleTimeoutSeconds / 2, this.#pingIntervalSeconds)
      ) {
        connection.isPinged = true;
        connection.ping();
      }
    }
  }
}
