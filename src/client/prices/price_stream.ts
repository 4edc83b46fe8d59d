import { NS_PER_MS } from '../../model/time.js';
import { CHANNEL_INTERVALS_MS, type Channel, DEFAULT_CHANNEL } from '../../wire/stream.js';
import type { AttributeName } from '../../wire/stream_attributes.js';
import { type TicksealError, UnknownAssetError } from '../connect/errors.js';
import type { AbortSignalLike } from '../connect/platform.js';
import type { ClientContext } from './client_context.js';
import { Coverage } from './coverage.js';
import { LONG_BACKLOG_CHARS } from './lost_payloads.js';
import { Merger, type SourcedPrice } from './merger.js';
import { PulledStream } from './pulled_stream.js';
import type { PassedReport } from './source_events.js';
import { StreamSource } from './stream_source.js';
import { requireSymbols } from './symbol_table.js';
import type { StreamedType } from './taxonomy.js';
import { Tick } from './tick.js';
import { type MissedPrice, UnreadTicks } from './unread_ticks.js';

/** The options of a stream of verified prices. */
export interface StreamOptions {
  /** The interval of the prices, or `real_time` for a tick at each change. Default: `real_time`. */
  readonly channel?: Channel | undefined;
  /**
   * The attributes that are signed with each price: `ms` for the market status, `age`, `n` and `spread` for the inputs that count, or
   * `quality` for these three. Default: none.
   */
  readonly attributes?: readonly AttributeName[] | undefined;
  /**
   * The signature type of the assets that the symbols name. Default: `evm` for a symbol that has both types. With `'both'`, each
   * symbol begins with its type, such as `evm BTCUSD` and `stark BTCUSD`. This also applies to {@link PriceStream.add} and to
   * ticks.
   */
  readonly signatureType?: StreamedType | undefined;
  /**
   * The largest allowed age of a payload, in milliseconds. An older payload causes an `error` event and no ticks, because an
   * attacker may have delayed or replayed it. The age is measured with this machine's clock and with the service's clock (see
   * {@link Tick.ageMs}); the greater age counts. Default: 10 s plus five intervals of the channel.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * `true` to read the missed ticks after each `gap` event. The missed ticks are the aggregates that the service signed in the gap,
   * with `backfilled` set. The ticks of each asset follow in the order of time, without repetitions. On a fixed channel the client
   * reads one aggregate of each interval. On `real_time` it leaves out aggregates of an unchanged price. Live ticks wait for the missed
   * ticks. From a short backlog, the stream delivers every payload instead of the newest price of each asset. The client's signers must
   * contain the keys of aggregates. An unreadable part causes an `error` event. Only for streams of {@link createClient}. Default:
   * `false`.
   */
  readonly backfill?: boolean | undefined;
  /** A signal that ends the stream, like `close`. Default: none. */
  readonly signal?: AbortSignalLike | undefined;
}

/** The default of `maxAgeMs`: an allowance for slightly wrong clocks, plus some intervals of the channel. */
const MAX_AGE_MS = 10_000;
const MAX_AGE_INTERVALS = 5;

/**
 * A stream of verified prices of some assets, for `for await`. A reader that is slower than the prices receives the newest price
 * of each asset. Leaving the loop ends the stream.
 */
export class PriceStream extends PulledStream<Tick> {
  readonly #context: ClientContext;
  readonly #signatureType: StreamedType | undefined;
  /** True when each tick is a change of the price. This is so on `real_time` if the ticks have no attributes. */
  readonly #hasOnlyChanges: boolean;
  readonly #sources: readonly StreamSource[];
  readonly #merger: Merger;
  readonly #wanted: Set<string>;
  readonly #unread = new UnreadTicks();
  /** The end of the newest gap with a backfill. A live tick that is older than this time repeats a backfilled tick. */
  #backfilledNs = 0n;
  readonly #lastMissed = new Map<string, MissedPrice>();
  /** The symbols with which the stream was opened. If no service has one of these symbols, the stream ends. */
  readonly #first: ReadonlySet<string>;
  /** The wanted symbols that a service's taxonomy does not list, by service. */
  readonly #missing = new Map<number, Pick<ReadonlySet<string>, 'has'>>();
  /** Symbols that were reported as unknown. */
  #unknown: ReadonlySet<string> = new Set();
  #hasPrices = false;
  #open: number;
  #tellClosed: (result: { readonly value: undefined }) => void = () => {};
  readonly #closed = new Promise<{ readonly value: undefined }>((resolve) => {
    this.#tellClosed = resolve;
  });

  /** @internal */
  constructor(symbols: readonly string[], options: StreamOptions, context: ClientContext) {
    super();
    requireSymbols(symbols);
    const { channel = DEFAULT_CHANNEL, attributes = [], signatureType, backfill, signal } = options;
    const intervalMs = CHANNEL_INTERVALS_MS[channel];
    const { maxAgeMs = MAX_AGE_MS + MAX_AGE_INTERVALS * (intervalMs ?? 0) } = options;
    if (typeof maxAgeMs !== 'number') throw new TypeError('maxAgeMs must be a number');
    if (!(maxAgeMs > 0)) throw new RangeError('maxAgeMs must be above 0');
    const readMissed = backfill === true ? context.readMissed : undefined;
    if (backfill === true && readMissed === undefined)
      throw new TypeError('backfill needs a client of createClient');
    this.#context = context;
    this.#signatureType = signatureType;
    this.#hasOnlyChanges = intervalMs === undefined && attributes.length === 0;
    this.#wanted = new Set(symbols);
    this.#first = new Set(symbols);
    this.#merger = new Merger(intervalMs, context.services.length);
    this.#open = context.services.length;
    const shared = {
      channel,
      attributes,
      signatureType,
      maxAgeMs,
      keptChars: readMissed === undefined ? 0 : LONG_BACKLOG_CHARS,
      merger: this.#merger,
      wanted: this.#wanted,
    };
    const coverage = new Coverage(BigInt(intervalMs ?? 0) * NS_PER_MS, (fromNs, toNs) => {
      const gap = { symbols: this.symbols, fromNs, toNs };
      if (readMissed !== undefined) {
        const lastPrices = new Map<string, bigint>();
        for (const symbol of this.#wanted) {
          const last = this.#merger.lastPriceOf(symbol);
          if (last !== undefined) lastPrices.set(symbol, last);
        }
        const isOpen = () => !this.isClosed;
        const lastMissed = this.#lastMissed;
        const stream = { intervalMs, signatureType, wanted: this.#wanted, lastPrices, lastMissed, isOpen };
        this.#unread.addMissed(readMissed(gap, stream));
        this.#backfilledNs = toNs;
        this.tell();
      }
      context.listeners.emit('gap', gap);
    });
    this.#sources = context.services.map(
      (service, i) =>
        new StreamSource(i, service, shared, context, {
          onPrice: (price, report, serviceMs) => this.#deliver(price, report, serviceMs, service.url),
          onMissing: (missing) => this.#reportMissing(i, new Set(missing)),
          // When a connection begins, the other services must send their current prices. These payloads show that the other connections
          // cover this time too.
          onPayload: (timestampNs, isAfterLoss) => {
            if (coverage.seen(i, timestampNs, isAfterLoss)) this.#refreshAllBut(i);
          },
          // The last prices of a lost service may have arrived late, so the other services must send their current prices.
          onDown: () => {
            coverage.lost(i);
            if (!coverage.isUp) this.#merger.allLost();
            this.#refreshAllBut(i);
          },
          onEnded: (error) => this.#sourceEnded(i, error),
        }),
    );
    context.open.add(this);
    this.endWith(signal);
  }

  /** The current symbols of the stream. */
  get symbols(): readonly string[] {
    return [...this.#wanted];
  }

  /** The symbols of {@link symbols} for which a service has confirmed the subscription. */
  get subscribed(): readonly string[] {
    const subscribed = this.#sources.map((source) => source.subscribed);
    return this.symbols.filter((symbol) => subscribed.some((symbols) => symbols.has(symbol)));
  }

  /** The number of ticks that newer ticks replaced before the reader read them. */
  get conflated(): number {
    return this.#unread.conflated;
  }

  /**
   * Adds symbols. If no service has a symbol, the client emits an `error` event.
   * @throws TypeError when `symbols` is not a list of texts
   */
  add(symbols: readonly string[]): void {
    requireSymbols(symbols);
    for (const symbol of symbols) this.#wanted.add(symbol);
    for (const source of this.#sources) source.sync();
  }

  /** Removes symbols and their unread ticks. */
  remove(symbols: readonly string[]): void {
    for (const symbol of symbols) {
      this.#wanted.delete(symbol);
      this.#unread.remove(symbol);
      this.#merger.forget(symbol);
    }
    for (const source of this.#sources) source.sync();
  }

  /**
   * Waits for the next tick.
   * @throws UnknownAssetError when no service has one of the symbols with which the stream was opened
   * @throws RefusedError when all services refuse this client
   */
  async next(): Promise<IteratorResult<Tick, undefined>> {
    for (;;) {
      const next = this.#unread.take();
      if (next instanceof Tick) {
        if (this.#repeatsMissed(next)) continue;
        return { done: false, value: next };
      }
      if (next !== undefined) {
        const { value } = await Promise.race([next.next(), this.#closed]);
        if (value !== undefined) return { done: false, value };
        this.#unread.end(next);
        continue;
      }
      if (await this.isOver()) return { done: true, value: undefined };
    }
  }

  protected release(): Promise<unknown> {
    this.#unread.clear();
    this.#tellClosed({ value: undefined });
    this.#context.open.delete(this);
    return Promise.all(this.#sources.map((source) => source.close()));
  }

  #sourceEnded(service: number, error: TicksealError): void {
    this.#open -= 1;
    if (this.#open === 0) {
      this.fail(error);
      return;
    }
    this.#context.reportError(error);
    // A service that has ended has none of the symbols.
    this.#reportMissing(service, { has: () => true });
  }

  /** Records the missing symbols of a service. A symbol is unknown when no service has it. */
  #reportMissing(service: number, symbols: Pick<ReadonlySet<string>, 'has'>): void {
    this.#missing.set(service, symbols);
    if (this.#missing.size < this.#sources.length) return;
    const services = [...this.#missing.values()];
    const unknown = this.symbols.filter((symbol) => services.every((missing) => missing.has(symbol)));
    const fresh = unknown.filter((symbol) => !this.#unknown.has(symbol));
    this.#unknown = new Set(unknown);
    if (fresh.length === 0) return;
    const error = new UnknownAssetError(fresh);
    if (!this.#hasPrices && fresh.some((symbol) => this.#first.has(symbol))) this.fail(error);
    else this.#context.reportError(error);
  }

  /**
   * Returns whether a tick repeats the last price of a gap. A new connection begins with the current prices, so its first tick may
   * repeat this price.
   */
  #repeatsMissed({ symbol, timestampNs, price }: Tick): boolean {
    const missed = this.#hasOnlyChanges ? this.#lastMissed.get(symbol) : undefined;
    return missed?.toNs === timestampNs && missed.price === price;
  }

  #refreshAllBut(service: number): void {
    for (const [i, source] of this.#sources.entries()) if (i !== service) source.refresh();
  }

  #deliver(price: SourcedPrice, report: PassedReport, serviceMs: () => number, url: string): void {
    const { symbol, timestampNs, attributes } = price;
    if (timestampNs < this.#backfilledNs) return;
    const { signer, verdict } = report;
    const tick = new Tick(
      { symbol, price: price.price, timestampNs, signer, verdict, attributes, url },
      serviceMs,
    );
    this.#context.sample?.received(tick, this.#signatureType);
    this.#unread.add(tick);
    this.#hasPrices = true;
    this.tell();
  }
}
