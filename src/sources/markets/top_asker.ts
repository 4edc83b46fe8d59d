import type { Schedule } from '../../client/connect/liveness.js';
import type { MarketTop } from '../adapters/market.js';
import type { MarketQuote } from '../market_quote.js';
import type { FrameSink } from './market_feed.js';
import { type FetchFault, fetchText } from './source_fetch.js';

export interface TopAskerOptions {
  readonly top: MarketTop;
  /** The address; `{symbol}` stands for the exchange's name of the pair. */
  readonly url: string;
  readonly sink: FrameSink;
  readonly schedule: Schedule;
}

/** A request for a pair's best prices. */
export interface TopRequest {
  /** Returns false when the answer would be older than the pair's newest frame. */
  isNeeded(): boolean;
  onQuote(quote: MarketQuote): void;
}

/** The pause between two requests to one exchange. */
const PAUSE_MS = 1_000;
const ANSWER_BYTES_MAX = 1024 ** 2;

/**
 * A poller of the best prices of silent pairs over REST. The poller sends one request a second, and at most one request for each pair at a
 * time.
 */
export class TopAsker {
  readonly #options: TopAskerOptions;
  readonly #closed = new AbortController();
  /** The requests that wait for their turn, by pair. */
  readonly #waiting = new Map<string, TopRequest>();
  readonly #connections = new Map<string, number>();
  #isBusy = false;
  #cancelPause: () => void = () => {};

  constructor(options: TopAskerOptions) {
    this.#options = options;
  }

  /** Requests a pair's prices. A failed request has no answer. A request that is no longer needed is dropped, and so is its answer. */
  ask(pair: string, request: TopRequest): void {
    this.#waiting.set(pair, request);
    if (!this.#isBusy) void this.#askNext();
  }

  close(): void {
    this.#closed.abort();
    this.#cancelPause();
    this.#waiting.clear();
    for (const connection of this.#connections.values()) this.#options.sink.end(connection);
  }

  async #askNext(): Promise<void> {
    const [next] = this.#waiting;
    this.#isBusy = next !== undefined && !this.#closed.signal.aborted;
    if (next === undefined || !this.#isBusy) return;
    const [pair, request] = next;
    this.#waiting.delete(pair);
    const pauseMs = request.isNeeded() ? await this.#requestTop(pair, request) : 0;
    if (!this.#closed.signal.aborted)
      this.#cancelPause = this.#options.schedule(() => void this.#askNext(), pauseMs);
  }

  /** @returns the pause after the request */
  async #requestTop(pair: string, request: TopRequest): Promise<number> {
    const { top, url, sink } = this.#options;
    const { signal } = this.#closed;
    const address = url.replaceAll('{symbol}', encodeURIComponent(top.nameOf(pair)));
    let text: string;
    try {
      text = await fetchText(address, ANSWER_BYTES_MAX, {}, signal);
    } catch (error) {
      if (signal.aborted) return PAUSE_MS;
      const { message, stopMs } = error as FetchFault;
      sink.warn(`${pair}: its best prices cannot be asked for: ${message}`);
      return Math.max(PAUSE_MS, stopMs);
    }
    if (signal.aborted || !request.isNeeded()) return PAUSE_MS;
    for (const event of sink.read(this.#connectionOf(pair), text))
      if (event.kind === 'quote') request.onQuote(event.quote);
      else if (event.kind === 'malformed') sink.warn(`${pair}: ${event.reason}`);
    return PAUSE_MS;
  }

  #connectionOf(pair: string): number {
    let connection = this.#connections.get(pair);
    if (connection === undefined) {
      ({ connection } = this.#options.sink.begin([pair], true));
      this.#connections.set(pair, connection);
    }
    return connection;
  }
}
