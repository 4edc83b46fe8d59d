import { ProtocolError, RefusedError, type TicksealError, UnverifiedError } from '../connect/errors.js';
import type { Down } from '../connect/reconnecting_socket.js';
import type { RestService } from '../connect/rest_service.js';
import { decodePayload, type Payload } from '../verify/decode_payload.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import type { ClientContext } from './client_context.js';
import type { Frame } from './frame.js';
import { FrameQueue, type WaitingPayload } from './frame_queue.js';
import { LostPayloads } from './lost_payloads.js';
import type { SourcedPrice } from './merger.js';
import { ServiceClock } from './service_clock.js';
import type { PayloadSource } from './signed_memory.js';
import type { ReportedPayload, SourceEvents } from './source_events.js';
import type { StreamSourceOptions } from './stream_source_options.js';
import { Subscriber } from './subscriber.js';
import { SymbolTable } from './symbol_table.js';
import type { Taxonomy } from './taxonomy.js';

/**
 * The interval of changes. The service allows 10 control messages a second, and a change of the wanted symbols takes up to two
 * messages.
 */
const SYNC_INTERVAL_MS = 250;
/** The delay after a refusal, for example because other connections of the token use up its subscriptions. */
const SYNC_RETRY_MS = 2_000;

/** The verified prices of a service on its connection, by symbol. */
export class StreamSource {
  readonly #index: number;
  readonly #url: string;
  readonly #options: StreamSourceOptions;
  readonly #context: ClientContext;
  readonly #events: SourceEvents;
  readonly #subscriber: Subscriber;
  readonly #symbols: SymbolTable;
  readonly #queue: FrameQueue;
  readonly #losses = new LostPayloads();
  readonly #sender: PayloadSource;
  #isVerifying = false;
  /** True when a call of {@link #drain} is scheduled. */
  #isDrainDue = false;
  /** The number of the mapping of IDs to symbols. A payload that arrived under a mapping is not read with a later mapping. */
  #mapping = 0;
  #clock!: ServiceClock;
  /** True when prices were dropped while the mapping changed. */
  #isSnapshotDue = false;
  /** A payload that passed its checks but does not fit the symbols. The symbols are being read again. */
  #unplaced: ReportedPayload | undefined;
  /** Cancels the wait for the next change of the subscription. */
  #cancelSync: (() => void) | undefined;
  #isClosed = false;

  /** @param index the index among the services of the stream */
  constructor(
    index: number,
    service: RestService,
    options: StreamSourceOptions,
    context: ClientContext,
    events: SourceEvents,
  ) {
    this.#index = index;
    this.#url = service.url;
    this.#options = options;
    this.#context = context;
    this.#events = events;
    this.#queue = new FrameQueue(options.keptChars, (one) => context.memory.passOver(one, this.#sender));
    this.#symbols = new SymbolTable(service, options.signatureType, context.platform, options.wanted, {
      onRead: (taxonomy) => this.#symbolsRead(taxonomy),
      onError: (error) => context.reportError(error),
      onRefused: (error) => {
        context.listeners.emit('state', { url: service.url, state: 'ended', reason: error.message });
        this.#end(error);
      },
    });
    const onFailed = (report: PayloadReport, hex: string) => this.#fail(report, hex);
    this.#sender = { url: service.url, symbols: this.#symbols, onFailed };
    const connection = context.connectionTo(service);
    this.#subscriber = new Subscriber({
      ...connection,
      messageType: 'signed_ecdsa',
      channel: options.channel,
      addtlAttrs: options.marketStatus ? ['ms'] : [],
      onFrame: (frame) => this.#received(frame),
      onUp: () => {
        this.#leaveMapping();
        this.#clock = new ServiceClock(context.platform);
        this.#symbols.expire();
        connection.onUp?.();
      },
      onDown: (down) => {
        if (this.#isClosed) return;
        connection.onDown?.(down);
        this.#down(down);
        if (!this.#isClosed) events.onDown();
      },
      onResubscribed: () => this.sync(),
      onTaxonomyChange: () => {
        this.#leaveMapping();
        this.#symbols.expire();
        this.#isSnapshotDue = true;
      },
      onError: (text) => context.reportError(new ProtocolError(this.#url, text)),
    });
  }

  /** Subscribes the wanted assets and unsubscribes the unwanted assets. */
  sync(): void {
    if (this.#isClosed || !this.#symbols.isCurrent || this.#cancelSync !== undefined) return;
    const missing = [...this.#options.wanted].filter((symbol) => this.#symbols.idOf(symbol) === undefined);
    this.#events.onMissing(missing);
    if (this.#isClosed) return;
    const wanted = new Set(this.#wantedIds());
    const subscribed = new Set(this.#subscriber.assets);
    const add = [...wanted].filter((id) => !subscribed.has(id));
    const drop = this.#subscriber.assets.filter((id) => !wanted.has(id));
    if (add.length + drop.length === 0) return;
    this.#syncIn(SYNC_INTERVAL_MS);
    if (add.length > 0) void this.#subscribe(add);
    if (drop.length > 0) void this.#subscriber.unsubscribe(drop);
  }

  /** Requests the current price of each asset. The service sends current prices for new subscriptions on `real_time`. */
  refresh(): void {
    this.#isSnapshotDue = false;
    const ids = this.#wantedIds();
    if (this.#options.channel !== 'real_time' || ids.length === 0 || !this.#subscriber.isOpen) return;
    void this.#subscriber.unsubscribe(ids);
    void this.#subscribe(ids);
  }

  /** Ends the connection permanently, and resolves when it is closed. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSync?.();
    this.#symbols.close();
    this.#queue.clear();
    return this.#subscriber.close();
  }

  /** The symbols for which the service has confirmed the subscription. */
  get subscribed(): ReadonlySet<string | undefined> {
    return new Set(this.#subscriber.assets.map((id) => this.#symbols.symbolOf(id)));
  }

  #syncIn(delayMs: number): void {
    this.#cancelSync?.();
    this.#cancelSync = this.#context.platform.schedule(() => {
      this.#cancelSync = undefined;
      this.sync();
    }, delayMs);
  }

  #wantedIds(): number[] {
    const ids = [...this.#options.wanted].map((symbol) => this.#symbols.idOf(symbol));
    return ids.filter((id) => id !== undefined);
  }

  async #subscribe(ids: readonly number[]): Promise<void> {
    const result = await this.#subscriber.subscribe(ids, true);
    // A connection that was lost subscribes again without this code.
    if (result.ok || this.#isClosed || !this.#subscriber.isOpen) return;
    this.#syncIn(SYNC_RETRY_MS);
    this.#context.reportError(new ProtocolError(this.#url, result.error));
  }

  #symbolsRead(taxonomy: Taxonomy): void {
    this.#context.listeners.emit('taxonomy', { url: this.#url, taxonomy });
    const unplaced = this.#unplaced;
    this.#unplaced = undefined;
    if (unplaced !== undefined) this.#place(unplaced, true);
    if (this.#isSnapshotDue) this.refresh();
    this.sync();
    this.#drainSoon();
  }

  #received(frame: Frame): void {
    if (frame.type !== 'signed_ecdsa') return;
    const hex = frame.payload;
    const payload = decodePayload(hex);
    if ('check' in payload) {
      const { check: name, reason } = payload;
      this.#fail({ verdict: 'failed', checks: [{ name, status: 'failed', reason }] }, hex);
    } else this.#queue.push({ hex, payload });
    this.#drainSoon();
  }

  #drainSoon(): void {
    if (this.#isDrainDue) return;
    this.#isDrainDue = true;
    this.#context.platform.afterReceiving(() => {
      this.#isDrainDue = false;
      this.#drain();
    });
  }

  /** Begins to verify the oldest payload with new prices. Later payloads wait, and newer payloads may replace them. */
  #drain(): void {
    while (this.#symbols.isCurrent && !this.#isVerifying && !this.#isClosed) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (next.lostChars > 0) this.#losses.lost(next.lostChars);
      if (this.#repeats(next.payload)) {
        this.#context.memory.passOver(next, this.#sender);
        this.#passed(next);
        continue;
      }
      this.#verify(next);
      return;
    }
  }

  #verify({ hex }: WaitingPayload): void {
    this.#isVerifying = true;
    const mapping = this.#mapping;
    this.#context.verifier.verify(hex, (report) => {
      if (this.#isClosed) return;
      const isCurrent = mapping === this.#mapping;
      // This line comes first, because a listener of the user may throw below.
      if (isCurrent) this.#isVerifying = false;
      if (report.verdict !== 'failed') this.#context.memory.addPayload({ report, hex }, this.#sender);
      if (!isCurrent || this.#isClosed) return;
      const dated = this.#clock.judge(report, this.#options.maxAgeMs);
      if (dated.verdict === 'failed') this.#fail(dated, hex);
      else this.#place({ report: dated, hex }, false);
      this.#drainSoon();
    });
  }

  /** Delivers the prices of a payload. A payload that does not fit the symbols waits once for the next read of the symbols. */
  #place(reported: ReportedPayload, isSecondTime: boolean): void {
    const { report, hex } = reported;
    const { taxonomyId } = report.payload;
    if (!this.#symbols.fits(report.payload)) {
      if (!isSecondTime) {
        this.#unplaced = reported;
        this.#symbols.expire();
        return;
      }
      this.#losses.lost();
      const reason = `a payload of taxonomy ${taxonomyId} does not fit the service's taxonomy`;
      this.#context.reportError(new ProtocolError(this.#url, reason));
      return;
    }
    this.#context.listeners.emit('report', { url: this.#url, report, hex });
    this.#passed({ hex, payload: report.payload });
    for (const price of this.#wantedIn(report.payload))
      if (this.#options.merger.admit(price)) this.#events.onPrice(price, report, this.#clock.nowMs);
  }

  #passed({ hex, payload: { timestampNs } }: WaitingPayload): void {
    const isAfterLoss = this.#losses.passed(timestampNs, this.#clock.nowMs(), hex.length);
    this.#events.onPayload(timestampNs, isAfterLoss);
  }

  /** Returns whether the stream already has all prices of a payload, so that verifying the payload is unnecessary. */
  #repeats(payload: Payload): boolean {
    const { merger } = this.#options;
    if (!this.#symbols.fits(payload)) return false;
    return this.#wantedIn(payload).every((price) => merger.repeats(price));
  }

  /** Returns the prices of wanted assets in a payload that fits the symbols. */
  #wantedIn({ assets, timestampNs }: Payload): SourcedPrice[] {
    const prices: SourcedPrice[] = [];
    for (const { id, value, marketStatus } of assets) {
      const symbol = this.#symbols.symbolOf(id)!;
      if (this.#options.wanted.has(symbol))
        prices.push({ source: this.#index, symbol, timestampNs, price: value, marketStatus });
    }
    return prices;
  }

  #fail(report: PayloadReport, hex: string): void {
    this.#losses.lost();
    this.#context.listeners.emit('report', { url: this.#url, report, hex });
    const symbols = report.payload?.assets.map(({ id }) => this.#symbols.symbolOf(id)) ?? [];
    const known = symbols.filter((symbol) => symbol !== undefined);
    this.#context.reportError(new UnverifiedError(this.#url, known, report.checks));
  }

  #down({ reason, httpStatus, final }: Down): void {
    this.#leaveMapping();
    if (final) this.#end(new RefusedError(this.#url, httpStatus ?? 0, reason));
  }

  /** Discards all received payloads. */
  #leaveMapping(): void {
    this.#mapping += 1;
    if (this.#isVerifying || this.#unplaced !== undefined || !this.#queue.isEmpty) this.#losses.lost();
    this.#isVerifying = false;
    this.#queue.clear();
    this.#unplaced = undefined;
  }

  #end(error: TicksealError): void {
    void this.close();
    this.#events.onEnded(error);
  }
}
