import { CLIENT_CLOSE_CODE, mayReconnect } from '../wire/close_codes.js';
import { PING_TYPE } from '../wire/stream.js';
import { Liveness, type Schedule } from './liveness.js';

/** The part of the WebSocket interface that is used; browsers' own sockets and those of the package `ws` have it. */
export interface SocketLike {
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
  /** Sends a ping of the protocol. The package `ws` has it, browsers do not: there the ping is a message. */
  ping?(): void;
  /** Listens for the answers to {@link ping}. */
  on?(event: 'pong', listener: () => void): unknown;
  /** Ends the connection without waiting for the other side, as the package `ws` does. */
  terminate?(): void;
}

/** Opens a WebSocket with request headers. With `ws`: `(url, headers) => new WebSocket(url, { headers })`. */
export type OpenConnection = (url: string, headers: Readonly<Record<string, string>>) => SocketLike;

export interface ConnectionOptions {
  /** Base address such as `wss://prices.example.com`. */
  readonly url: string;
  /** Sent as `Authorization: Basic <token>`. */
  readonly token?: string | undefined;
  /**
   * Default: the global `WebSocket`, which cannot send headers. A browser therefore connects without a token, to a
   * proxy of its own site that adds the header.
   */
  readonly openSocket?: OpenConnection | undefined;
  /** Default: `setTimeout`. */
  readonly schedule?: Schedule | undefined;
  /**
   * Called when nothing arrived for the expected time, not even the answer to a ping. {@link onDown} and a new connection
   * follow.
   */
  readonly onStale?: ((silentMs: number) => void) | undefined;
  /** Called whenever a connection was made. */
  readonly onUp?: (() => void) | undefined;
  /** Called whenever a connection ended or could not be made. */
  readonly onDown?: ((down: Down) => void) | undefined;
}

/** Why there is no connection. */
export interface Down {
  readonly reason: string;
  /** The HTTP status with which the server refused the connection, when it did and the socket tells. */
  readonly httpStatus?: number;
  /** The server will not have this client: there is no further attempt. */
  readonly final: boolean;
}

/** The first attempt follows after half to all of the minimum; each further one waits up to twice as long. */
const RECONNECT_DELAY_MS_MIN = 250;
const RECONNECT_DELAY_MS_MAX = 10_000;
/** A connection that lasted this long was a good one: the next loss starts from the minimum again. */
const STABLE_MS = 5_000;
/** How long a connection may take to open or to close; past it the socket is given up. */
const OPEN_DELAY_MS_MAX = 10_000;
const CLOSE_DELAY_MS_MAX = 5_000;
/** What a socket that was given up reports here; no close frame carries this code. */
const CLOSE_ABNORMAL = 1006;
/** The ping of sockets that have none of their own. */
const PING_MESSAGE = JSON.stringify({ type: PING_TYPE });
/** A timeout and too many requests pass; other refusals with a 4xx status do not. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
/** How the package `ws` words a refused upgrade; browsers do not tell. */
const REFUSED = /server response: (\d{3})/;

/** What a client does with its connection. */
export interface ConnectionEvents {
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
}

/**
 * A WebSocket that comes back after a loss, with bounded and jittered delays. It keeps no messages meanwhile. A loss is also
 * a connection on which nothing arrives any more.
 */
export class ReconnectingSocket {
  readonly #url: string;
  readonly #options: ConnectionOptions;
  readonly #schedule: Schedule;
  readonly #events: ConnectionEvents;
  readonly #liveness: Liveness;
  #socket: SocketLike | undefined;
  #isOpen = false;
  #failures = 0;
  /** Waits for the next attempt, for the connection to open, or for it to have been up for long enough. */
  #cancelTimer: () => void = () => {};
  #cancelCloseTimer: () => void = () => {};
  /** Set once there will be no further connection. */
  #ended: string | undefined;
  #waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  #onClosed: (() => void)[] = [];

  /**
   * Connects to `path` (with its query) below the base address at once.
   * @param quietMs how long nothing may arrive before the connection is probed
   */
  constructor(path: string, quietMs: number, options: ConnectionOptions, events: ConnectionEvents) {
    this.#url = options.url.replace(/\/+$/, '') + path;
    this.#options = options;
    this.#schedule = options.schedule ?? scheduleTimeout;
    this.#events = events;
    this.#liveness = new Liveness(this.#schedule, quietMs, {
      probe: () => this.#probe(),
      onStale: (silentMs) => this.#stale(silentMs),
    });
    this.#connect();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Bytes that were sent but have not left yet. */
  get bufferedBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  /** Resolves when a connection is up; rejects when there will be none. */
  opened(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Sends `text`, or returns `false` when there is no connection. */
  send(text: string): boolean {
    if (this.#isOpen) this.#socket!.send(text);
    return this.#isOpen;
  }

  /** Ends the connection for good; resolves when it is closed. */
  close(): Promise<void> {
    this.#end('closed');
    this.#cancelTimer();
    if (this.#socket === undefined) return Promise.resolve();
    const closed = new Promise<void>((resolve) => this.#onClosed.push(resolve));
    this.#cancelCloseTimer = this.#schedule(() => this.#giveUp('closed'), CLOSE_DELAY_MS_MAX);
    this.#liveness.stop();
    this.#socket.close(CLIENT_CLOSE_CODE);
    return closed;
  }

  #connect(): void {
    const { token, openSocket = openGlobalSocket } = this.#options;
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Basic ${token}` };
    const socket = openSocket(this.#url, headers);
    let failure: string | undefined;
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }: { data: unknown }) => {
      this.#liveness.heard();
      if (typeof data === 'string') this.#events.onText(data);
    };
    socket.onerror = (event: { message?: string; error?: { code?: string } }) => {
      failure = event.message || event.error?.code || 'the connection failed';
    };
    socket.onclose = ({ code, reason }: { code: number; reason: string }) => {
      this.#closed(code, failure ?? `closed with ${code}${reason && ` (${reason})`}`);
    };
    socket.on?.('pong', () => this.#liveness.heard());
    this.#socket = socket;
    const reason = `no connection within ${OPEN_DELAY_MS_MAX} ms`;
    this.#cancelTimer = this.#schedule(() => this.#giveUp(reason), OPEN_DELAY_MS_MAX);
  }

  #opened(): void {
    this.#isOpen = true;
    this.#cancelTimer();
    this.#cancelTimer = this.#schedule(() => {
      this.#failures = 0;
    }, STABLE_MS);
    this.#liveness.start();
    this.#events.onOpen();
    this.#options.onUp?.();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  #closed(code: number, reason: string): void {
    this.#isOpen = false;
    this.#socket = undefined;
    this.#cancelTimer();
    this.#cancelCloseTimer();
    this.#liveness.stop();
    const refused = REFUSED.exec(reason)?.[1];
    const httpStatus = refused === undefined ? undefined : Number(refused);
    const isRefused = httpStatus !== undefined && httpStatus < 500 && !PASSING_STATUSES.has(httpStatus);
    if (isRefused || !mayReconnect(code, reason)) this.#end(reason);
    const final = this.#ended !== undefined;
    this.#options.onDown?.(httpStatus === undefined ? { reason, final } : { reason, httpStatus, final });
    for (const resolve of this.#onClosed.splice(0)) resolve();
    // The listener may have closed this connection for good.
    if (this.#ended === undefined)
      this.#cancelTimer = this.#schedule(() => this.#connect(), this.#nextDelayMs());
  }

  #probe(): void {
    const socket = this.#socket!;
    if (socket.ping) socket.ping();
    else socket.send(PING_MESSAGE);
  }

  #stale(silentMs: number): void {
    this.#options.onStale?.(silentMs);
    this.#giveUp(`nothing arrived for ${silentMs} ms, not even the answer to a ping`);
  }

  /** Takes the socket for closed without waiting for the other side. What it still reports is ignored. */
  #giveUp(reason: string): void {
    const socket = this.#socket!;
    for (const name of ['onopen', 'onmessage', 'onerror', 'onclose'] as const) socket[name] = () => {};
    if (socket.terminate) socket.terminate();
    else socket.close();
    this.#closed(CLOSE_ABNORMAL, reason);
  }

  #nextDelayMs(): number {
    const limitMs = Math.min(RECONNECT_DELAY_MS_MIN * 2 ** this.#failures, RECONNECT_DELAY_MS_MAX);
    if (limitMs < RECONNECT_DELAY_MS_MAX) this.#failures += 1;
    return limitMs * (0.5 + Math.random() / 2);
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(this.#ended));
  }
}

/** The default {@link Schedule}. */
export const scheduleTimeout: Schedule = (run, delayMs) => {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
};

const openGlobalSocket: OpenConnection = (url, headers) => {
  const { WebSocket } = globalThis as { WebSocket?: new (url: string) => SocketLike };
  if (WebSocket === undefined) throw new TypeError('openSocket is required: there is no global WebSocket');
  if (Object.keys(headers).length > 0) throw new TypeError('openSocket is required to send a token');
  return new WebSocket(url);
};
