import { boundedSocket } from '../../client/connect/bounded_socket.js';
import type { Schedule } from '../../client/connect/liveness.js';
import type { MarketRules } from '../adapters/market.js';
import type { LiveConnection, LiveEvents } from './live_connection.js';
import { stopMsOf } from './source_fetch.js';

/** The largest frame from an exchange. A larger frame ends the connection. A book of 100 levels has 5 KB. */
export const MARKET_FRAME_BYTES_MAX = 1024 ** 2;
/** The largest number of messages that wait to be sent. Further messages are dropped; the watchdog requests the data again. */
const WAITING_MESSAGES_MAX = 1_000;

export interface MarketConnectionOptions extends LiveEvents {
  readonly url: string;
  readonly rules: MarketRules;
  readonly schedule: Schedule;
}

/**
 * A WebSocket to an exchange. The connection paces messages, sends pings, and ends when the exchange is silent for too long. It is never
 * reopened.
 */
export class MarketConnection implements LiveConnection {
  readonly #options: MarketConnectionOptions;
  readonly #socket: ReturnType<typeof boundedSocket>;
  readonly #waiting: string[] = [];
  readonly #cancels = new Map<string, () => void>();
  #isPacing = false;
  #hasReceived = true;
  #isEnded = false;
  #reason = '';
  #stopMs = 0;

  constructor(options: MarketConnectionOptions) {
    this.#options = options;
    const { url, onOpen, onText } = options;
    const socket = boundedSocket(url, { 'User-Agent': 'tickseal' }, [], MARKET_FRAME_BYTES_MAX);
    this.#socket = socket;
    const received = () => {
      this.#hasReceived = true;
    };
    socket.on('open', () => {
      this.#watchSilence();
      this.#ping();
      onOpen();
    });
    socket.on('message', (data) => {
      received();
      if (!this.#isEnded) onText(String(data));
    });
    socket.on('ping', received);
    socket.on('pong', received);
    socket.on('error', (error) => {
      this.#reason ||= error.message;
    });
    socket.on('unexpected-response', (request, { statusCode = 0, headers }) => {
      this.#stopMs = stopMsOf(statusCode, headers['retry-after']);
      this.#reason ||= `the exchange answers ${statusCode} instead of a WebSocket`;
      request.destroy();
      this.#end(this.#reason);
    });
    socket.on('close', (code) => this.#end(this.#reason || `the exchange closed the connection (${code})`));
  }

  /** Sends messages in order, with the pause that the exchange requires between messages. */
  send(texts: readonly string[]): void {
    this.#waiting.push(...texts.slice(0, WAITING_MESSAGES_MAX - this.#waiting.length));
    if (!this.#isPacing) this.#sendNext();
  }

  close(): void {
    this.#finish();
  }

  #sendNext(): void {
    const text = this.#waiting.shift();
    this.#isPacing = text !== undefined;
    if (text === undefined || this.#isEnded) return;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text);
    this.#scheduleNamed('pace', () => this.#sendNext(), this.#options.rules.pauseMs);
  }

  /** Ends the connection after two checks without a frame. The time between checks is half of the allowed silence. */
  #watchSilence(): void {
    let silent = 0;
    const { silenceMs } = this.#options.rules;
    const look = () => {
      silent = this.#hasReceived ? 0 : silent + 1;
      this.#hasReceived = false;
      // The first check only resets the flag for the time before it.
      if (silent >= 2) this.#end(`no frame for ${silenceMs / 1000} s`);
      else this.#scheduleNamed('silence', look, silenceMs / 2);
    };
    look();
  }

  #ping(): void {
    const { ping } = this.#options.session;
    const everyMs = this.#options.rules.pingMs;
    if (everyMs === undefined || ping === undefined) return;
    const again = () => {
      this.send([ping]);
      this.#scheduleNamed('ping', again, everyMs);
    };
    this.#scheduleNamed('ping', again, everyMs);
  }

  #scheduleNamed(name: string, run: () => void, delayMs: number): void {
    if (!this.#isEnded) this.#cancels.set(name, this.#options.schedule(run, delayMs));
  }

  #end(reason: string): void {
    if (this.#isEnded) return;
    this.#finish();
    this.#options.onEnd(reason, this.#stopMs);
  }

  /** Ends the connection without the closing handshake, which would wait for the exchange. */
  #finish(): void {
    this.#isEnded = true;
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
    this.#socket.terminate();
  }
}
