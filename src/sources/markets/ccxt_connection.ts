import type { Schedule } from '../../client/connect/liveness.js';
import { bookLine, failureLine, readWatchRequest, tickerLine } from '../watch_session.js';
import type { CcxtExchange } from './ccxt_library.js';
import type { LiveConnection, LiveEvents } from './live_connection.js';
import { retryDelayMs } from './market_feed.js';

export interface CcxtConnectionOptions extends LiveEvents {
  readonly exchange: CcxtExchange;
  readonly schedule: Schedule;
  readonly random: () => number;
}

/** The interval between requests to an exchange without a socket; all symbols share it. */
const POLL_MS = 1_000;
/** The longest time to wait for the end of a subscription before the same subscription begins again. */
const UNWATCH_MS_MAX = 2_000;

/**
 * A ccxt instance of an exchange, used as a connection. The requests of its session name the symbols to watch, and its frames are lines
 * with the best prices. ccxt itself connects to the exchange. A watchdog closes this connection when it is silent.
 */
export class CcxtConnection implements LiveConnection {
  readonly #options: CcxtConnectionOptions;
  /** The watched symbols, each with its loop. */
  readonly #loops = new Map<string, object>();
  /** The subscriptions that are ending. */
  readonly #ending = new Map<string, Promise<unknown>>();
  readonly #cancels = new Set<() => void>();
  readonly #read: (symbol: string) => Promise<string>;
  readonly #unwatch: ((symbol: string) => Promise<unknown>) | undefined;
  readonly #isPolled: boolean;
  #isClosed = false;

  constructor(options: CcxtConnectionOptions) {
    this.#options = options;
    const { exchange, schedule, onOpen } = options;
    const { has } = exchange;
    const book = async (answer: ReturnType<CcxtExchange['fetchOrderBook']>, symbol: string) =>
      bookLine(symbol, await answer);
    const ticker = async (answer: ReturnType<CcxtExchange['fetchTicker']>, symbol: string) =>
      tickerLine(symbol, await answer);
    this.#isPolled = has['watchOrderBook'] !== true && has['watchTicker'] !== true;
    if (has['watchOrderBook'] === true) {
      this.#read = (symbol) => book(exchange.watchOrderBook(symbol), symbol);
      if (has['unWatchOrderBook'] === true) this.#unwatch = (symbol) => exchange.unWatchOrderBook(symbol);
    } else if (has['watchTicker'] === true) {
      this.#read = (symbol) => ticker(exchange.watchTicker(symbol), symbol);
      if (has['unWatchTicker'] === true) this.#unwatch = (symbol) => exchange.unWatchTicker(symbol);
    } else if (has['fetchOrderBook'] === true) {
      this.#read = (symbol) => book(exchange.fetchOrderBook(symbol), symbol);
    } else this.#read = (symbol) => ticker(exchange.fetchTicker(symbol), symbol);
    this.#cancels.add(schedule(onOpen, 0));
  }

  send(texts: readonly string[]): void {
    for (const text of texts) {
      const { watch, unwatch } = readWatchRequest(text);
      for (const symbol of unwatch) this.#endSymbol(symbol);
      for (const symbol of watch) {
        const loop = {};
        this.#loops.set(symbol, loop);
        void this.#watchSymbol(symbol, loop);
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#loops.clear();
    for (const cancel of this.#cancels) cancel();
    // A library method may throw an error or return a rejected promise.
    void (async () => this.#options.exchange.close?.())().catch(() => {});
  }

  async #watchSymbol(symbol: string, loop: object): Promise<void> {
    const { onText, random } = this.#options;
    const isOver = () => this.#isClosed || this.#loops.get(symbol) !== loop;
    let failures = 0;
    await this.#ending.get(symbol);
    while (!isOver()) {
      let line: string;
      let delayMs = this.#isPolled ? POLL_MS * this.#loops.size : 0;
      try {
        line = await this.#read(symbol);
        failures = 0;
      } catch (error) {
        line = failureLine(symbol, error);
        delayMs = retryDelayMs(failures++, random());
      }
      if (isOver()) return;
      onText(line);
      // If the watch always resolves immediately, this pause leaves time for other work.
      await (delayMs === 0 ? new Promise(setImmediate) : this.#pause(delayMs));
    }
  }

  #endSymbol(symbol: string): void {
    this.#loops.delete(symbol);
    if (this.#unwatch === undefined) return;
    const ended = (async () => this.#unwatch!(symbol))().catch(() => {});
    const ending = Promise.race([ended, this.#pause(UNWATCH_MS_MAX)]).finally(() => {
      if (this.#ending.get(symbol) === ending) this.#ending.delete(symbol);
    });
    this.#ending.set(symbol, ending);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.schedule(() => {
        this.#cancels.delete(cancel);
        resolve();
      }, ms);
      this.#cancels.add(cancel);
    });
  }
}
