import { Roster } from '../../fair/roster.js';
import { CLOSES } from '../../wire/close_codes.js';
import type { ConnectionPath } from '../connections/connection.js';

/** The methods of a socket for idle timeouts, and the fields in which the timeouts store their state. */
export interface IdleTimed {
  readonly path: Pick<ConnectionPath, 'idleTimeoutSeconds' | 'sendsPings' | 'reportsSilence'>;
  idlePlace: number;
  /** The time at which the last whole message, ping or pong arrived, in seconds of the clock of the timeouts. */
  seenAtS: number;
  /** The number of checks since the last ping that has no answer; 0 without such a ping. */
  checksSincePing: number;
  ping(): void;
  /** Called with each check while the ping has no answer. */
  silent(): void;
  /** Called with each check after {@link UNFINISHED_S} of silence, if the path reports silence. */
  unfinished(): void;
  /** Called when a whole message, ping or pong arrived after {@link silent} was called. */
  resumed(): void;
  close(code: number, reason: string): void;
}

/** Distinguishes silent connections in the middle of a message from connections that have sent nothing. */
export interface Silence<C> {
  /** Receives the connections that have not answered a ping yet. Each check calls this method. */
  findAll(connections: readonly C[]): void;
  /** @returns `undefined` when the answer is unknown */
  hasOnlyOpened(connection: C): boolean | undefined;
}

const UNKNOWN: Silence<unknown> = { findAll() {}, hasOnlyOpened: () => undefined };

/** The interval of checks. */
const CHECK_MS = 1_000;
/** The silence before a ping, if the path reports silence. The service pings a new connection immediately. */
const REPORT_PING_AFTER_S = 3;
/** The number of checks after which a ping counts as unanswered. The first check may come right after the ping. */
const UNANSWERED_CHECKS = 3;
/** The silence in which a peer must finish a message: 10 s, less the inaccuracy of whole seconds and of a check. */
const UNFINISHED_S = 7;

/**
 * Closes connections that sent no whole message, ping or pong within the idle timeout. uWebSockets.js closes only connections
 * that send no bytes at all, so a message that never ends could keep a connection open with one byte per second. The service
 * pings readers after half of the idle timeout. If the path reports silence, the service pings earlier, because a connection in
 * the middle of a message cannot answer. A connection that has sent nothing since it opened is not reported.
 */
export class IdleTimeouts<C extends IdleTimed> {
  readonly #connections = new Roster<'idlePlace', C>('idlePlace');
  readonly #nowMs: () => number;
  readonly #silence: Silence<C>;
  #timer: NodeJS.Timeout | undefined;

  constructor(nowMs: () => number, silence: Silence<C> = UNKNOWN) {
    this.#nowMs = nowMs;
    this.#silence = silence;
  }

  get size(): number {
    return this.#connections.size;
  }

  get connections(): Iterable<C> {
    return this.#connections;
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
    if (connection.path.reportsSilence) ping(connection);
  }

  /** Records that a whole message, ping or pong arrived. */
  received(connection: C): void {
    // A time in whole seconds needs no separate memory in V8. The code rounds the time up, so no connection ends early.
    connection.seenAtS = Math.ceil(this.#nowMs() / 1_000);
    if (connection.path.reportsSilence && connection.checksSincePing >= UNANSWERED_CHECKS)
      connection.resumed();
    connection.checksSincePing = 0;
  }

  delete(connection: C): void {
    this.#connections.delete(connection);
  }

  check(): void {
    const nowS = Math.floor(this.#nowMs() / 1_000);
    const connections = this.#connections;
    const silent: C[] = [];
    for (let i = 0; i < connections.size; i++) {
      const connection = connections.at(i);
      const { path, checksSincePing } = connection;
      if (path.reportsSilence && checksSincePing >= UNANSWERED_CHECKS - 1) silent.push(connection);
    }
    this.#silence.findAll(silent);
    for (let i = connections.size - 1; i >= 0; i--) {
      const connection = connections.at(i);
      const { idleTimeoutSeconds, reportsSilence } = connection.path;
      const silentS = nowS - connection.seenAtS;
      if (silentS >= idleTimeoutSeconds) {
        connection.close(CLOSES.idle.code, CLOSES.idle.reason);
      } else if (connection.checksSincePing > 0) {
        connection.checksSincePing++;
        if (reportsSilence) this.#report(connection, silentS);
      } else if (silentS >= pingAfterS(connection.path)) {
        ping(connection);
      }
    }
  }

  #report(connection: C, silentS: number): void {
    if (connection.checksSincePing < UNANSWERED_CHECKS) return;
    if (this.#silence.hasOnlyOpened(connection) === true) return;
    connection.silent();
    if (silentS >= UNFINISHED_S) connection.unfinished();
  }
}

function ping(connection: IdleTimed): void {
  connection.checksSincePing = 1;
  connection.ping();
}

function pingAfterS({ idleTimeoutSeconds, sendsPings, reportsSilence }: IdleTimed['path']): number {
  if (reportsSilence) return REPORT_PING_AFTER_S;
  return sendsPings ? idleTimeoutSeconds / 2 : Number.POSITIVE_INFINITY;
}
