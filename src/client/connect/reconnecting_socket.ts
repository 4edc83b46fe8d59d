import { CLIENT_CLOSE_CODE, mayReconnect, SHUTTING_DOWN, TOKEN_REVOKED } from '../../wire/close_codes.js';
import { foreignText } from '../../wire/foreign_text.js';
import { PING_TYPE } from '../../wire/stream.js';
import { type Credentials, type Login, tokenLogin } from './credentials.js';
import { Liveness, type Schedule } from './liveness.js';
import { openGlobalSocket, scheduleTimeout } from './platform.js';
import {
  type ConnectFailure,
  type ErrorEventLike,
  failureOf,
  MESSAGE_BYTES_MAX,
  MESSAGE_TOO_LONG,
  RefusedConnection,
} from './refusal.js';
import type { OpenConnection, SocketLike } from './socket_like.js';

/** The options of a WebSocket that reconnects after a loss. */
export interface ConnectionOptions {
  /** The base address of the service, such as `wss://prices.example.com`. */
  readonly url: string;
  /** The access token, sent as `Authorization: Basic <token>`. Default: none. */
  readonly token?: string | undefined;
  /** The source of the credentials of each connection, instead of `token`. Default: the token in a header. */
  readonly login?: Login | undefined;
  /** A function that opens a WebSocket. Default: the global `WebSocket`, which cannot send headers. */
  readonly openSocket?: OpenConnection | undefined;
  /** A function that delays a call. Default: `setTimeout`. */
  readonly schedule?: Schedule | undefined;
  /**
   * Milliseconds without any message, not even the answer to a ping, after which the client replaces a connection. Default: 4 to
   * 5.5 s, by channel.
   */
  readonly staleAfterMs?: number | undefined;
  /** Called when nothing arrived for the expected time, not even the answer to a ping. `onDown` and a new connection follow. */
  readonly onStale?: ((silentMs: number) => void) | undefined;
  /** Called when a connection is open, also after each reconnection. */
  readonly onUp?: (() => void) | undefined;
  /** Called after a connection ended, and after an attempt to connect failed. */
  readonly onDown?: ((down: Down) => void) | undefined;
}

/** The loss of a connection, or an attempt that failed. */
export interface Down {
  /** The reason in a sentence. */
  readonly reason: string;
  /** The HTTP status of a refusal; absent if the server did not refuse, or the socket does not report the status. */
  readonly httpStatus?: number;
  /** `true` when the server refuses this client permanently, so that no attempt follows. */
  readonly final: boolean;
}

/** The shortest delay. The first attempt follows after 50 to 100 % of this delay; each further attempt waits up to twice as long. */
const RECONNECT_DELAY_MS_MIN = 250;
const RECONNECT_DELAY_MS_MAX = 10_000;
/**
 * The longest delay after a service that shuts down has closed a good connection. During a take-over, another service already serves on
 * the same port. The closing service spreads its closes, so the attempts are spread too.
 */
const SUCCESSOR_DELAY_MS_MAX = 20;
/**
 * The duration after which a connection counts as good. After a good connection is lost, the delays start from the minimum
 * again.
 */
const STABLE_MS = 5_000;
/** The longest time for a connection to open or to close. After this time the client abandons the socket. */
const OPEN_DELAY_MS_MAX = 10_000;
const CLOSE_DELAY_MS_MAX = 5_000;
/** The close code that the client itself reports after it abandoned a socket. No close frame carries this code. */
const CLOSE_ABNORMAL = 1006;
/** The ping message, for sockets that have no method for pings. */
const PING_MESSAGE = JSON.stringify({ type: PING_TYPE });
/**
 * The statuses of refusals. A timeout (408), 425 and too many requests (429) are temporary; other refusals with a 4xx status
 * are permanent.
 */
const UNAUTHORIZED = 401;
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** The callbacks of a client for its connection. */
export interface SocketEvents {
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** Called before {@link ConnectionOptions.onDown}. */
  readonly onDown?: (down: Down) => void;
}

/**
 * A WebSocket that reconnects after a loss, with bounded and jittered delays. Messages are not kept while there is no connection. A
 * silent connection also counts as lost.
 */
export class ReconnectingSocket {
  readonly #url: string;
  readonly #options: ConnectionOptions;
  readonly #schedule: Schedule;
  readonly #events: SocketEvents;
  readonly #liveness: Liveness;
  readonly #login: Login;
  readonly #openSocket: OpenConnection;
  #socket: SocketLike | undefined;
  #isOpen = false;
  #failures = 0;
  /** True after the connection was open for {@link STABLE_MS}. */
  #isGood = false;
  /**
   * The number of the attempt. The number changes when an attempt begins and when a connection ends, because callbacks of an earlier
   * attempt must be ignored.
   */
  #attempt = 0;
  /**
   * Cancels the timer of the next attempt, of the connection's opening, or of the time after which a connection counts as
   * good.
   */
  #cancelTimer: () => void = () => {};
  #cancelCloseTimer: () => void = () => {};
  /** The reason why no further connection follows; `undefined` while a connection may follow. */
  #ended: string | undefined;
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #onClosed: (() => void)[] = [];

  /**
   * Connects immediately to `path` (with its query) below the base address.
   * @param quietMs the silence after which the connection is probed
   */
  constructor(path: string, quietMs: number, options: ConnectionOptions, events: SocketEvents) {
    this.#url = options.url.replace(/\/+$/, '') + path;
    this.#options = options;
    this.#schedule = options.schedule ?? scheduleTimeout;
    this.#login = options.login ?? tokenLogin(options.token);
    this.#openSocket = options.openSocket ?? openGlobalSocket;
    this.#events = events;
    this.#liveness = new Liveness(this.#schedule, quietMs, options.staleAfterMs, {
      probe: () => this.#probe(),
      onStale: (silentMs) => this.#closeStale(silentMs),
    });
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The number of bytes in the socket's send buffer. */
  get bufferedBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** Resolves when a connection is up. Rejects if no connection will follow. */
  opened(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Sends `text`; returns `false` if there is no connection. */
  send(text: string): boolean {
    if (this.#isOpen) this.#socket!.send(text);
    return this.#isOpen;
  }

  /** Ends the connection permanently. Resolves when the connection is closed. */
  close(): Promise<void> {
    this.#end('closed');
    this.#cancelTimer();
    if (this.#socket === undefined) return Promise.resolve();
    const closed = new Promise<void>((resolve) => this.#onClosed.push(resolve));
    if (this.#onClosed.length > 1) return closed;
    this.#cancelCloseTimer = this.#schedule(() => this.#giveUp('closed'), CLOSE_DELAY_MS_MAX);
    this.#liveness.stop();
    this.#socket.close(CLIENT_CLOSE_CODE);
    return closed;
  }

  #connect(): void {
    this.#attempt += 1;
    const attempt = this.#attempt;
    const reason = `no connection within ${OPEN_DELAY_MS_MAX} ms`;
    this.#cancelTimer = this.#schedule(() => this.#giveUp(reason), OPEN_DELAY_MS_MAX);
    this.#login.credentials().then(
      (credentials) => {
        if (attempt === this.#attempt && this.#ended === undefined) this.#open(credentials);
      },
      (error: Error) => {
        if (attempt !== this.#attempt || this.#ended !== undefined) return;
        this.#closed(
          CLOSE_ABNORMAL,
          error.message,
          error instanceof RefusedConnection ? error.status : undefined,
        );
      },
    );
  }

  #open({ headers, protocols }: Credentials): void {
    let socket: SocketLike;
    try {
      socket = this.#openSocket(this.#url, headers, protocols);
    } catch (error) {
      // The arguments are wrong, so another attempt would fail in the same way.
      this.#end((error as Error).message);
      this.#closed(CLOSE_ABNORMAL, (error as Error).message);
      return;
    }
    let failure: ConnectFailure | undefined;
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }: { data: unknown }) => {
      this.#liveness.received();
      if (typeof data !== 'string') return;
      if (data.length > MESSAGE_BYTES_MAX) this.#giveUp(MESSAGE_TOO_LONG);
      else this.#events.onText(data);
    };
    // The first error is the cause of the later errors.
    socket.onerror = (event: ErrorEventLike) => {
      failure ??= failureOf(event);
    };
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
      const text = failure?.reason ?? `closed with ${code}${reason && ` (${foreignText(reason)})`}`;
      this.#closed(code, text, failure?.status);
    };
    socket.on?.('pong', () => this.#liveness.received());
    this.#socket = socket;
  }

  #opened(): void {
    this.#isOpen = true;
    this.#cancelTimer();
    this.#cancelTimer = this.#schedule(() => {
      this.#failures = 0;
      this.#isGood = true;
    }, STABLE_MS);
    this.#liveness.start();
    this.#events.onOpen();
    this.#options.onUp?.();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  #closed(code: number, reason: string, httpStatus?: number): void {
    const isReplaced = this.#isGood && code === SHUTTING_DOWN.code;
    this.#isOpen = false;
    this.#isGood = false;
    this.#socket = undefined;
    this.#attempt += 1;
    this.#cancelTimer();
    this.#cancelCloseTimer();
    this.#liveness.stop();
    if (!this.#mayReturn(code, reason, httpStatus)) this.#end(reason);
    const final = this.#ended !== undefined;
    const down = httpStatus === undefined ? { reason, final } : { reason, httpStatus, final };
    this.#events.onDown?.(down);
    this.#options.onDown?.(down);
    for (const resolve of this.#onClosed.splice(0)) resolve();
    // The listener may have permanently closed this connection.
    if (this.#ended === undefined)
      this.#cancelTimer = this.#schedule(() => this.#connect(), this.#nextDelayMs(isReplaced));
  }

  /** Returns whether another attempt may succeed. After a refused token, a new token may be accepted. */
  #mayReturn(code: number, reason: string, httpStatus: number | undefined): boolean {
    const isRevoked = code === TOKEN_REVOKED.code && reason.includes(TOKEN_REVOKED.reason);
    if (isRevoked || httpStatus === UNAUTHORIZED) return this.#login.renew();
    const isRefused = httpStatus !== undefined && httpStatus < 500 && !PASSING_STATUSES.has(httpStatus);
    return !isRefused && mayReconnect(code, reason);
  }

  #probe(): void {
    const socket = this.#socket!;
    if (socket.ping) socket.ping();
    else socket.send(PING_MESSAGE);
  }

  #closeStale(silentMs: number): void {
    this.#options.onStale?.(silentMs);
    this.#giveUp(`nothing arrived for ${silentMs} ms, not even the answer to a ping`);
  }

  /** Treats the socket as closed without waiting for the other side. The client ignores later events of this socket. */
  #giveUp(reason: string): void {
    const socket = this.#socket;
    if (socket !== undefined) abandonSocket(socket);
    this.#closed(CLOSE_ABNORMAL, reason);
  }

  #nextDelayMs(isReplaced: boolean): number {
    if (isReplaced) return Math.random() * SUCCESSOR_DELAY_MS_MAX;
    const limitMs = Math.min(RECONNECT_DELAY_MS_MIN * 2 ** this.#failures, RECONNECT_DELAY_MS_MAX);
    if (limitMs < RECONNECT_DELAY_MS_MAX) this.#failures += 1;
    return limitMs * (0.5 + Math.random() / 2);
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(this.#ended));
  }
}

/** Ends a socket, and ignores its later events. */
function abandonSocket(socket: SocketLike): void {
  for (const name of ['onopen', 'onmessage', 'onerror', 'onclose'] as const) socket[name] = () => {};
  if (socket.terminate) socket.terminate();
  else socket.close();
}
