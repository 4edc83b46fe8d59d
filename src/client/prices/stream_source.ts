import {
  EquivocationError,
  ProtocolError,
  RefusedError,
  type TicksealError,
  UnsignedMappingError,
  UnverifiedError,
} from '../connect/errors.js';
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
import { WantedAssets } from './wanted_assets.js';

/** The time that a service has to serve a signed mapping, after it has served a mapping that is unsigned or lacks IDs of its payloads. */
const MAPPING_WAIT_MS = 5_000;

/** The verified prices of a service on its connection, by symbol. */
export class StreamSource {
  readonly #index: number;
  readonly #url: string;
  readonly #options: StreamSourceOptions;
  readonly #context: ClientContext;
  readonly #events: SourceEvents;
  readonly #subscriber: Subscriber;
  readonly #symbols: SymbolTable;
  readonly #wanted: WantedAssets;
  readonly #queue: FrameQueue;
  readonly #losses = new LostPayloads();
  readonly #sender: PayloadSource;
  #isVerifying = false;
  /** True when a call of {@link #drain} is scheduled. */
  #isDrainDue = false;
  /** The number of the connection. A payload of an earlier connection is not delivered. */
  #connection = 0;
  #clock!: ServiceClock;
  /** A payload with a valid signature and IDs without a symbol. The symbols are being read again, and later payloads wait. */
  #unplaced: ReportedPayload | undefined;
  /** Cancels the end of the wait for a signed mapping. */
  #cancelWait: (() => void) | undefined;
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
    this.#symbols = new SymbolTable(service, options.signatureType, context.platform, context.meanings, {
      onRead: (taxonomy) => this.#symbolsRead(taxonomy),
      onError: (error) => this.#symbolsFailed(error),
      onRefused: (error) => this.#refuse(error),
    });
    const onFailed = (report: PayloadReport, hex: string) => this.#reportFailed(report, hex);
    this.#sender = { url: service.url, symbols: this.#symbols, onFailed };
    const connection = context.connectionTo(service);
    const report = (text: string) => context.reportError(new ProtocolError(service.url, text));
    this.#subscriber = new Subscriber({
      ...connection,
      messageType: 'signed_ecdsa',
      channel: options.channel,
      addtlAttrs: options.attributes,
      onFrame: (frame) => this.#received(frame),
      onUp: () => {
        this.#discard();
        this.#clock = new ServiceClock(context.platform);
        this.#symbols.expire();
        connection.onUp?.();
      },
      onDown: (down) => {
        if (this.#isClosed) return;
        connection.onDown?.(down);
        this.#connectionLost(down);
        if (!this.#isClosed) events.onDown();
      },
      onResubscribed: () => this.sync(),
      onTaxonomyChange: () => this.#symbols.expire(),
      onError: report,
    });
    this.#wanted = new WantedAssets({
      wanted: options.wanted,
      symbols: this.#symbols,
      subscriber: this.#subscriber,
      schedule: context.platform.schedule,
      onMissing: events.onMissing,
      onRefused: report,
    });
  }

  /** Subscribes the wanted assets and unsubscribes the unwanted assets. */
  sync(): void {
    this.#wanted.sync();
  }

  /** Requests the current price of each asset. The service sends current prices for new subscriptions on `real_time`. */
  refresh(): void {
    if (this.#options.channel === 'real_time') this.#wanted.refresh();
  }

  /** Ends the connection permanently, and resolves when it is closed. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#wanted.close();
    this.#cancelWait?.();
    this.#symbols.close();
    this.#queue.clear();
    return this.#subscriber.close();
  }

  /** The symbols for which the service has confirmed the subscription. */
  get subscribed(): ReadonlySet<string | undefined> {
    return new Set(this.#subscriber.assets.map((id) => this.#symbols.symbolOf(id)));
  }

  #symbolsRead(taxonomy: Taxonomy): void {
    this.#context.listeners.emit('taxonomy', { url: this.#url, taxonomy });
    const unplaced = this.#unplaced;
    this.#unplaced = undefined;
    if (unplaced !== undefined && !this.#place(unplaced)) {
      const { taxonomyId } = unplaced.report.payload;
      const reason = `its payloads of taxonomy ${taxonomyId} have IDs that its list of taxonomy ${taxonomy.taxonomyId} lacks`;
      this.#failIn(new UnsignedMappingError(this.#url, reason));
    } else {
      this.#cancelWait?.();
      this.#cancelWait = undefined;
    }
    this.sync();
    this.#drainSoon();
  }

  #symbolsFailed(error: TicksealError): void {
    // The client has reported a contradiction already.
    if (error instanceof EquivocationError) this.#refuse(error);
    else this.#context.reportError(error);
    if (error instanceof UnsignedMappingError) this.#failIn(error);
  }

  /** Ends this service's prices unless it serves the signed mapping that the stream needs in time. */
  #failIn(error: UnsignedMappingError): void {
    this.#cancelWait ??= this.#context.platform.schedule(() => {
      this.#cancelWait = undefined;
      if (this.#unplaced !== undefined || this.#symbols.taxonomyId < 0) this.#refuse(error);
    }, MAPPING_WAIT_MS);
  }

  #refuse(error: TicksealError): void {
    this.#context.listeners.emit('state', { url: this.#url, state: 'ended', reason: error.message });
    this.#end(error);
  }

  #received(frame: Frame): void {
    if (frame.type !== 'signed_ecdsa') return;
    const hex = frame.payload;
    const payload = decodePayload(hex);
    if ('check' in payload) {
      const { check: name, reason } = payload;
      this.#reportFailed({ verdict: 'failed', checks: [{ name, status: 'failed', reason }] }, hex);
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
    while (this.#unplaced === undefined && !this.#isVerifying && !this.#isClosed) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      if (next.lostChars > 0) this.#losses.lost(next.lostChars);
      if (this.#repeats(next.payload)) {
        this.#context.memory.passOver(next, this.#sender);
        this.#notePayload(next);
        continue;
      }
      this.#verify(next);
      return;
    }
  }

  #verify({ hex }: WaitingPayload): void {
    this.#isVerifying = true;
    const connection = this.#connection;
    this.#context.verifier.verify(hex, (report) => {
      if (this.#isClosed) return;
      const isCurrent = connection === this.#connection;
      // This line comes first, because a listener of the user may throw below.
      if (isCurrent) this.#isVerifying = false;
      if (report.verdict !== 'failed') this.#context.memory.addPayload({ report, hex }, this.#sender);
      if (!isCurrent || this.#isClosed) return;
      if (report.verdict === 'failed') this.#reportFailed(report, hex);
      else this.#place({ report, hex });
      this.#drainSoon();
    });
  }

  /**
   * Delivers the prices of a payload, or reports that the payload is too old. A payload whose IDs have no symbols waits for the next read
   * of the symbols.
   * @returns false if the payload waits
   */
  #place(reported: ReportedPayload): boolean {
    const { hex } = reported;
    const report = this.#clock.judge(reported.report, this.#options.maxAgeMs);
    if (report.verdict === 'failed') {
      this.#reportFailed(report, hex);
      return true;
    }
    const prices = this.#wantedIn(report.payload, report.verdict === 'verified');
    if (prices === undefined) {
      this.#unplaced = reported;
      this.#symbols.expire();
      return false;
    }
    this.#context.listeners.emit('report', { url: this.#url, report, hex });
    this.#notePayload({ hex, payload: report.payload });
    for (const price of prices)
      if (this.#options.merger.admit(price)) this.#events.onPrice(price, report, this.#clock.nowMs);
    return true;
  }

  #notePayload({ hex, payload: { timestampNs } }: WaitingPayload): void {
    const isAfterLoss = this.#losses.passed(timestampNs, this.#clock.nowMs(), hex.length);
    this.#events.onPayload(timestampNs, isAfterLoss);
  }

  /** Returns whether the stream already has all prices of a payload, so that verifying the payload is unnecessary. */
  #repeats(payload: Payload): boolean {
    return this.#wantedIn(payload)?.every((price) => this.#options.merger.repeats(price)) ?? false;
  }

  /**
   * Returns the prices of wanted assets in a payload; `undefined` if an ID of the payload has no symbol.
   * @param isVerified true if the symbols of the IDs must be signed too
   */
  #wantedIn({ taxonomyId, assets, timestampNs }: Payload, isVerified = false): SourcedPrice[] | undefined {
    const prices: SourcedPrice[] = [];
    for (const { id, value, ...attributes } of assets) {
      const symbol = this.#symbols.symbolOf(id, taxonomyId, isVerified);
      if (symbol === undefined) return undefined;
      if (this.#options.wanted.has(symbol))
        prices.push({ source: this.#index, symbol, timestampNs, price: value, attributes });
    }
    return prices;
  }

  #reportFailed(report: PayloadReport, hex: string): void {
    this.#losses.lost();
    this.#context.listeners.emit('report', { url: this.#url, report, hex });
    const { taxonomyId, assets = [] } = report.payload ?? {};
    const symbols = assets.map(({ id }) => this.#symbols.symbolOf(id, taxonomyId));
    const known = symbols.filter((symbol) => symbol !== undefined);
    this.#context.reportError(new UnverifiedError(this.#url, known, report.checks));
  }

  #connectionLost({ reason, httpStatus, final }: Down): void {
    this.#discard();
    if (final) this.#end(new RefusedError(this.#url, httpStatus ?? 0, reason));
  }

  /** Discards all received payloads. */
  #discard(): void {
    this.#connection += 1;
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
