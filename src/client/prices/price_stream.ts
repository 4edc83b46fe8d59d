/// <reference lib="esnext.disposable" preserve="true" />

import { MARKET_STATUS_NAMES, type MarketStatus } from '../../wire/market_status_codes.js';
import { CHANNEL_INTERVALS_MS, type Channel, DEFAULT_CHANNEL } from '../../wire/stream.js';
import { type TicksealError, UnknownAssetError } from '../connect/errors.js';
import type { AbortSignalLike } from '../connect/platform.js';
import type { ClientContext } from './client_context.js';
import { Merger, type SourcedPrice } from './merger.js';
import { type PassedReport, StreamSource } from './stream_source.js';
import { requireSymbols } from './symbol_table.js';
import type { StreamedType } from './taxonomy.js';
import { Tick } from './tick.js';

export interface StreamOptions {
  /** Default: `real_time`. */
  readonly channel?: Channel | undefined;
  /** Sets `status` of each tick. */
  readonly marketStatus?: boolean | undefined;
  /**
   * Of the assets that the symbols name. Default: `evm` for a symbol that has both. With `'both'` every symbol has its type before it, as
   * in `evm BTCUSD` and `stark BTCUSD`, for {@link PriceStream.add} and in ticks too.
   */
  readonly signatureType?: StreamedType | undefined;
  /** Ends the stream; the reader gets its reason as an error. */
  readonly signal?: AbortSignalLike | undefined;
}

/**
 * Verified prices of some assets, for `for await`. A reader that is slower than the prices gets the newest of each asset. Leaving
 * the loop ends the stream.
 */
export class PriceStream implements AsyncIterableIterator<Tick> {
  readonly #context: ClientContext;
  readonly #sources: readonly StreamSource[];
  readonly #merger: Merger;
  readonly #signal: AbortSignalLike | undefined;
  readonly #wanted: Set<string>;
  /** The newest tick of each asset that was not read yet, in the order in which they wait. */
  readonly #waiting = new Map<string, Tick>();
  /** The first symbols: one that no service has ends the stream. */
  readonly #first: ReadonlySet<string>;
  /** By service: the wanted symbols that its taxonomy does not list. */
  readonly #missing = new Map<number, Pick<ReadonlySet<string>, 'has'>>();
  /** Symbols that were reported as unknown. */
  #unknown: ReadonlySet<string> = new Set();
  #conflated = 0;
  #hasPrices = false;
  #open: number;
  #failure: { readonly error: unknown } | undefined;
  #closing: Promise<void> | undefined;
  #wake: () => void = () => {};
  #news: Promise<void> | undefined;

  constructor(symbols: readonly string[], options: StreamOptions, context: ClientContext) {
    requireSymbols(symbols);
    const { channel = DEFAULT_CHANNEL, marketStatus = false, signatureType, signal } = options;
    this.#context = context;
    this.#wanted = new Set(symbols);
    this.#first = new Set(symbols);
    this.#merger = new Merger(CHANNEL_INTERVALS_MS[channel]);
    this.#open = context.services.length;
    const shared = { channel, marketStatus, signatureType, merger: this.#merger, wanted: this.#wanted };
    this.#sources = context.services.map(
      (service, i) =>
        new StreamSource(i, service, shared, context, {
          onPrice: (price, report) => this.#deliver(price, report, service.url),
          onMissing: (missing) => this.#miss(i, new Set(missing)),
          // What it sent last may have been late: the others say what holds now.
          onDown: () => this.#refreshAllBut(i),
          onEnded: (error) => this.#ended(i, error),
        }),
    );
    this.#signal = signal;
    context.open.add(this);
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort);
  }

  /** The symbols of the stream. */
  get symbols(): readonly string[] {
    return [...this.#wanted];
  }

  /** Those of {@link symbols} of which a service has confirmed that it sends them. */
  get subscribed(): readonly string[] {
    const subscribed = this.#sources.map((source) => source.subscribed);
    return this.symbols.filter((symbol) => subscribed.some((symbols) => symbols.has(symbol)));
  }

  /** Ticks that were replaced by newer ones before they were read. */
  get conflated(): number {
    return this.#conflated;
  }

  /** Adds symbols; one that no service has is reported as an error of the client. */
  add(symbols: readonly string[]): void {
    requireSymbols(symbols);
    for (const symbol of symbols) this.#wanted.add(symbol);
    for (const source of this.#sources) source.sync();
  }

  /** Takes symbols away. */
  remove(symbols: readonly string[]): void {
    for (const symbol of symbols) {
      this.#wanted.delete(symbol);
      this.#waiting.delete(symbol);
      this.#merger.forget(symbol);
    }
    for (const source of this.#sources) source.sync();
  }

  /**
   * The next tick. Rejects when there will be none: with an {@link UnknownAssetError} when no service has a symbol, with the
   * error of the last service when all refuse this client, with the reason of the signal.
   */
  async next(): Promise<IteratorResult<Tick, undefined>> {
    for (;;) {
      const [tick] = this.#waiting.values();
      if (tick !== undefined) {
        this.#waiting.delete(tick.symbol);
        return { done: false, value: tick };
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#closing !== undefined) return { done: true, value: undefined };
      this.#news ??= new Promise((resolve) => {
        this.#wake = resolve;
      });
      await this.#news;
    }
  }

  /** Ends the stream, as leaving a loop does. */
  async return(): Promise<IteratorResult<Tick, undefined>> {
    await this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Ends the stream; resolves when its connections are closed. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#waiting.clear();
    this.#context.open.delete(this);
    const closed = this.#sources.map((source) => source.close());
    this.#tell();
    await Promise.all(closed);
  }

  readonly #abort = () => this.#fail(this.#signal!.reason);

  #fail(error: unknown): void {
    this.#failure ??= { error };
    void this.close();
  }

  /** Lets the reader look again. */
  #tell(): void {
    this.#news = undefined;
    this.#wake();
  }

  #ended(service: number, error: TicksealError): void {
    this.#open -= 1;
    if (this.#open === 0) {
      this.#fail(error);
      return;
    }
    this.#context.reportError(error);
    // No symbol comes from there.
    this.#miss(service, { has: () => true });
  }

  /** A symbol is unknown when every service is known not to have it. */
  #miss(service: number, symbols: Pick<ReadonlySet<string>, 'has'>): void {
    this.#missing.set(service, symbols);
    if (this.#missing.size < this.#sources.length) return;
    const services = [...this.#missing.values()];
    const unknown = this.symbols.filter((symbol) => services.every((missing) => missing.has(symbol)));
    const fresh = unknown.filter((symbol) => !this.#unknown.has(symbol));
    this.#unknown = new Set(unknown);
    if (fresh.length === 0) return;
    const error = new UnknownAssetError(fresh);
    if (!this.#hasPrices && fresh.some((symbol) => this.#first.has(symbol))) this.#fail(error);
    else this.#context.reportError(error);
  }

  #refreshAllBut(service: number): void {
    for (const [i, source] of this.#sources.entries()) if (i !== service) source.refresh();
  }

  #deliver(price: SourcedPrice, report: PassedReport, url: string): void {
    const { symbol, timestampNs, marketStatus } = price;
    const { signer, verdict } = report;
    const status = marketStatus == null ? undefined : MARKET_STATUS_NAMES[marketStatus as MarketStatus];
    const tick = new Tick(
      { symbol, price: price.price, timestampNs, signer, verdict, status, url },
      this.#context.platform.nowMs,
    );
    if (this.#waiting.has(symbol)) this.#conflated += 1;
    this.#waiting.set(symbol, tick);
    this.#hasPrices = true;
    this.#tell();
  }
}
