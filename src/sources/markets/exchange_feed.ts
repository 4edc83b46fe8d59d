import { slicesOf } from '../adapters/market.js';
import { type ExchangeFeedOptions, ExchangeLine } from './exchange_line.js';
import type { MarketFeed } from './market_feed.js';

/** The interval of the watchdogs' checks. */
const CHECK_MS = 250;

/**
 * All connections to one exchange. Pairs that are still silent after a second subscription move to a separate connection, so that the other
 * pairs keep theirs.
 */
export class ExchangeFeed implements MarketFeed {
  readonly #options: ExchangeFeedOptions;
  readonly #pairs: Map<string, number>;
  readonly #lines: ExchangeLine[] = [];
  /** The line for pairs that were silent on another line. */
  #silentLine: ExchangeLine | undefined;
  #cancelCheck: () => void = () => {};

  constructor(options: ExchangeFeedOptions) {
    this.#pairs = new Map(options.pairs);
    this.#options = { ...options, pairs: this.#pairs };
  }

  open(): void {
    this.#openLines([...this.#pairs.keys()]);
    this.#checkLines();
  }

  /** Adds pairs that the exchange did not have before. */
  add(pairs: ReadonlyMap<string, number>): void {
    for (const [pair, maxSilenceMs] of pairs) this.#pairs.set(pair, maxSilenceMs);
    this.#openLines([...pairs.keys()]);
  }

  renew(reason: string): void {
    for (const line of this.#lines) line.renew(reason);
  }

  close(): void {
    this.#cancelCheck();
    this.#options.asker?.close();
    for (const line of this.#lines) line.close();
  }

  #openLines(pairs: readonly string[]): void {
    for (const slice of slicesOf(pairs, this.#options.rules.pairsPerSocket)) this.#openLine(slice);
  }

  #openLine(pairs: readonly string[]): ExchangeLine {
    const line = new ExchangeLine(this.#options, pairs);
    this.#lines.push(line);
    return line;
  }

  #checkLines(): void {
    for (const line of [...this.#lines]) {
      const silent = line.look();
      if (silent.length === 0) continue;
      if (silent.length === line.size || line === this.#silentLine) line.renew('no pair sends frames');
      else this.#moveToSilentLine(line, silent);
    }
    this.#cancelCheck = this.#options.schedule(() => this.#checkLines(), CHECK_MS);
  }

  #moveToSilentLine(line: ExchangeLine, pairs: readonly string[]): void {
    line.remove(pairs);
    if (this.#silentLine === undefined) this.#silentLine = this.#openLine(pairs);
    else this.#silentLine.add(pairs);
  }
}
