import type { Schedule } from '../../client/connect/liveness.js';
import type { FrameSink, MarketFeed } from './market_feed.js';
import { type FetchFault, fetchText } from './source_fetch.js';

export interface HttpFeedOptions {
  /** The address; `{symbol}` stands for the symbol. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The parameters that are added to the address. */
  readonly query: Readonly<Record<string, string>>;
  /** Secrets, which are removed from answers because recordings keep the answers. */
  readonly secrets: readonly string[];
  readonly everyMs: number;
  readonly symbols: readonly string[];
  readonly sink: FrameSink;
  readonly schedule: Schedule;
}

const ANSWER_BYTES_MAX = 1024 ** 2;

/** Requests the price of each symbol from an HTTP source at the source's interval. */
export class HttpFeed implements MarketFeed {
  readonly #options: HttpFeedOptions;
  readonly #closed = new AbortController();
  readonly #cancels = new Map<string, () => void>();

  constructor(options: HttpFeedOptions) {
    this.#options = options;
  }

  open(): void {
    for (const symbol of this.#options.symbols) {
      const { connection } = this.#options.sink.begin([symbol]);
      void this.#ask(symbol, connection);
    }
  }

  /** Does nothing: no answers wait, because each symbol has at most one request. */
  renew(): void {}

  close(): void {
    this.#closed.abort();
    for (const cancel of this.#cancels.values()) cancel();
  }

  async #ask(symbol: string, connection: number): Promise<void> {
    const { headers, everyMs, sink, schedule } = this.#options;
    let delayMs = everyMs;
    try {
      const text = await fetchText(this.#addressOf(symbol), ANSWER_BYTES_MAX, headers, this.#closed.signal);
      if (this.#closed.signal.aborted) return;
      for (const event of sink.read(connection, this.#withoutSecrets(text)))
        if (event.kind === 'malformed') sink.warn(`${symbol}: ${event.reason}`);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      sink.warn(`${symbol}: ${(error as Error).message}`);
      delayMs = Math.max(everyMs, (error as FetchFault).stopMs);
    }
    this.#cancels.set(
      symbol,
      schedule(() => void this.#ask(symbol, connection), delayMs),
    );
  }

  #addressOf(symbol: string): string {
    const { url, query } = this.#options;
    const address = new URL(url.replaceAll('{symbol}', encodeURIComponent(symbol)));
    for (const [name, value] of Object.entries(query))
      address.searchParams.append(name, value.replaceAll('{symbol}', symbol));
    return address.href;
  }

  /** Removes the secrets from an answer. Some servers repeat the request in their answer. */
  #withoutSecrets(text: string): string {
    return this.#options.secrets.reduce((left, secret) => left.replaceAll(secret, ''), text);
  }
}
