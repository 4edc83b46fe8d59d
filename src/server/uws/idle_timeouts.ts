import { Roster } from '../../model/roster.js';
import { CLOSES } from '../../wire/close_codes.js';
import type { ConnectionPath } from '../connections/connection.js';

/** What a idleTimeouts does to a socket, and what it remembers there. */
export interface IdleTimed {
  readonly path: Pick<ConnectionPath, 'idleTimeoutSeconds' | 'sendsPings'>;
  idlePlace: number;
  /** When the last whole message, ping or pong came, in seconds of the clock of the timeouts. */
  seenAtS: number;
  /** Since then. */
  isPinged: boolean;
  ping(): void;
  close(code: number, reason: string): void;
}

/** Often enough against an idle timeout of 8 s, the shortest that the configuration allows. */
const CHECK_MS = 2_000;

/**
 * Closes connections from which no whole message, ping or pong came for the idle timeout. uWebSockets.js closes those that send
 * no bytes at all, but one byte a second of a message that never ends keeps a connection open. Readers are pinged after half
 * of the time.
 */
export class IdleTimeouts<C extends IdleTimed> {
  readonly #connections = new Roster<'idlePlace', C>('idlePlace');
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Starts to call {@link check}; does not keep the thread alive. */
  start(): void {
    setInterval(() => this.check(), CHECK_MS).unref();
  }

  add(connection: C): void {
    this.#connections.add(connection);
    this.received(connection);
  }

  /** A whole message, ping or pong came. */
  received(connection: C): void {
    // Whole seconds, which take no memory of their own; rounded so that nobody is ended early.
    connection.seenAtS = Math.ceil(this.#nowMs() / 1_000);
    connection.isPinged = false;
  }

  delete(connection: C): void {
    this.#connections.delete(connection);
  }

  check(): void {
    const nowS = Math.floor(this.#nowMs() / 1_000);
    const { members } = this.#connections;
    for (let i = members.length - 1; i >= 0; i--) {
      const connection = members[i]!;
      const { idleTimeoutSeconds, sendsPings } = connection.path;
      const silentS = nowS - connection.seenAtS;
      if (silentS >= idleTimeoutSeconds) {
        connection.close(CLOSES.idle.code, CLOSES.idle.reason);
      } else if (sendsPings && !connection.isPinged && silentS >= idleTimeoutSeconds / 2) {
        connection.isPinged = true;
        connection.ping();
      }
    }
  }
}
