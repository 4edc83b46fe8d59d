import {
  ProtocolError,
  RefusedError,
  type TicksealError,
  UnknownAssetError,
  UnverifiedError,
} from '../connect/errors.js';
import { BROWSER } from '../connect/platform.js';
import type { PriceStream } from '../prices/price_stream.js';
import { StreamClient } from '../prices/stream_client.js';
import type { ServiceSigner, Taxonomy, TaxonomyAsset } from '../prices/taxonomy.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import { ageMs, assetKey, Board, type Fault } from './board.js';
import { ConnectionLog, connectionState } from './connection_state.js';
import { byId } from './elements.js';
import { faultOf, isOtherSigner, noticeOf, refusalNotice, troubleNotice } from './frame_fault.js';
import { pacedFetch } from './paced_fetch.js';
import { pause } from './pause.js';
import type { PinnedSigners } from './pins.js';
import type { StateBar } from './state_bar.js';

/** Two frames a second are as many as people read, and the service signs every frame for this page alone. */
const CHANNEL = '500ms';
/** Pause before a stream that the service has ended for another reason than its token is opened again. */
const REOPEN_MS = 5_000;
/** How often the service's keys are read while its frames have another one's signature. */
const SIGNERS_INTERVAL_MS = 5_000;
/** The signer while none is pinned and the service names none: no key has this address. */
const NOBODY = `0x${'0'.repeat(40)}`;
const UNAUTHORIZED = 401;

export interface LivePricesOptions {
  readonly token: string;
  readonly pins: PinnedSigners;
  readonly states: StateBar;
  /** The service has other assets than before. */
  readonly onAssets: () => void;
  /** A connection was made. */
  readonly onUp: (isFirst: boolean) => void;
  /** There is something to draw, once the values of the frame were taken. */
  readonly onChange: () => void;
}

/** The verified prices of the assets that are wanted now, from the client; the state bar says what is wrong with them. */
export class LivePrices {
  readonly client: StreamClient;
  readonly board = new Board();
  readonly connection = new ConnectionLog();
  readonly #options: LivePricesOptions;
  #stream: PriceStream;
  #wanted: readonly string[] = [];
  /** The keys that the service says it signs with. */
  #signers: readonly ServiceSigner[] = [];
  #signersAskedMs = Number.NEGATIVE_INFINITY;
  #oracleId: string | undefined;
  #newestPayload: { readonly hex: string; readonly ids: ReadonlySet<number> } | undefined;
  /** Why the service does not send all that is wanted. */
  #refusal: string | undefined;
  /** Why no prices come. */
  #trouble: string | undefined;

  constructor(options: LivePricesOptions) {
    this.#options = options;
    this.client = new StreamClient(
      {
        urls: location.origin,
        token: options.token,
        signers: () => [this.#pinnedSigner()],
        worker: byId<HTMLLinkElement>('worker').href,
        inlinePerSecond: 0,
        fetch: pacedFetch(BROWSER.fetch),
      },
      BROWSER,
    );
    this.client.on('state', ({ state, reason }) => {
      if (state === 'open') this.#up();
      else if (state !== 'stale') this.connection.down(reason);
      options.onChange();
    });
    this.client.on('taxonomy', ({ taxonomy }) => this.#useTaxonomy(taxonomy));
    this.client.on('report', ({ report, hex }) => this.#take(report, hex));
    this.client.on('error', (error) => this.#explain(error));
    this.#stream = this.#open();
  }

  /** Reads prices for as long as the service takes the token. @throws RefusedError when it does not */
  async run(): Promise<never> {
    for (;;) {
      try {
        for await (const tick of this.#stream) this.board.apply(tick);
      } catch (error) {
        if (error instanceof RefusedError && error.status === UNAUTHORIZED) throw error;
        this.#explain(error as TicksealError);
      }
      await pause(REOPEN_MS);
      this.#stream = this.#open();
    }
  }

  /** How many assets the service sends. */
  get subscribed(): number {
    return this.#stream.subscribed.length;
  }

  get oracleId(): string | undefined {
    return this.#oracleId;
  }

  /** The newest verified payload that holds the asset, as `0x` hex. */
  payloadOf({ id }: TaxonomyAsset): string | undefined {
    return this.#newestPayload?.ids.has(id) ? this.#newestPayload.hex : undefined;
  }

  /** Changes which assets are wanted. */
  want(assets: readonly TaxonomyAsset[]): void {
    this.#wanted = [...new Set(assets.map(assetKey))];
    const before = this.#stream.symbols;
    this.#stream.add(this.#wanted.filter((name) => !before.includes(name)));
    this.#stream.remove(before.filter((name) => !this.#wanted.includes(name)));
  }

  #open(): PriceStream {
    const stream = this.client.stream([], { channel: CHANNEL, marketStatus: true, signatureType: 'both' });
    // Unlike a first symbol, one that was added may leave the service.
    stream.add(this.#wanted);
    return stream;
  }

  #up(): void {
    const isFirst = this.connection.downReason === undefined;
    this.connection.up();
    this.board.restart();
    this.#options.onUp(isFirst);
  }

  /** The key whose payloads count. Another tab may have forgotten the pins; then this is a first use again. */
  #pinnedSigner(): string {
    const { pins, states } = this.#options;
    if (pins.pinOnFirstUse('stream', this.#streamSigner)) states.showPins(pins);
    return pins.get('stream')?.key ?? NOBODY;
  }

  /** The key that signs streaming payloads, as the service says. */
  get #streamSigner(): string {
    return this.#signers.find(({ role }) => role === 'stream')?.address ?? '';
  }

  #useTaxonomy({ assets, signers, oracleId, simulation }: Taxonomy): void {
    const { pins, states, onAssets } = this.#options;
    this.#signers = signers;
    this.#oracleId = oracleId;
    // Streams first: until they have a pin of their own, the one of the EVM key counts for them.
    pins.pinOnFirstUse('stream', this.#streamSigner);
    for (const { address, signatureType, role } of signers)
      if (role === 'aggregate') pins.pinOnFirstUse(signatureType, address);
    states.showPins(pins);
    byId('simulation').hidden = !simulation;
    this.#trouble = undefined;
    this.#showNotice();
    if (JSON.stringify(this.board.assets) === JSON.stringify(assets)) return;
    this.board.setAssets(assets);
    this.#newestPayload = undefined;
    onAssets();
  }

  #take(report: PayloadReport, hex: string): void {
    if (report.verdict === 'failed') {
      if (isOtherSigner(report)) this.#readSigners();
      this.#fault(faultOf(report, this.#streamSigner));
      return;
    }
    const { timestampNs, assets } = report.payload;
    const nowMs = performance.now();
    this.board.pass(timestampNs, nowMs);
    this.connection.passed(nowMs, ageMs(timestampNs, Date.now()));
    this.#newestPayload = {
      hex: hex.startsWith('0x') ? hex : `0x${hex}`,
      ids: new Set(assets.map(({ id }) => id)),
    };
    if (this.subscribed === this.#wanted.length) this.#refusal = undefined;
    this.#trouble = undefined;
    this.#showNotice();
    this.#options.onChange();
  }

  /** The operator may have changed keys. */
  #readSigners(): void {
    const nowMs = performance.now();
    if (nowMs - this.#signersAskedMs < SIGNERS_INTERVAL_MS) return;
    this.#signersAskedMs = nowMs;
    this.client.taxonomy().then(
      ({ signers }) => {
        this.#signers = signers;
      },
      // The stream reads it again anyway.
      () => undefined,
    );
  }

  #fault(fault: Fault): void {
    this.connection.refused(performance.now());
    this.#newestPayload = undefined;
    this.board.blank(fault);
    this.#showNotice();
    this.#options.onChange();
  }

  #explain(error: TicksealError): void {
    // Reports and taxonomies say these two.
    if (error instanceof UnverifiedError || error instanceof UnknownAssetError) return;
    if (error instanceof ProtocolError) this.#refusal = error.message.slice(error.url.length + 2);
    // While frames come, one failed request is nothing to say.
    else if (connectionState(this.connection, 1, performance.now()).tone !== 'good')
      this.#trouble = error.message;
    this.#showNotice();
  }

  #showNotice(): void {
    const { states } = this.#options;
    const { fault } = this.board;
    const key = this.#streamSigner;
    if (fault !== undefined) states.showNotice(noticeOf(fault, key, () => this.#pin(key)));
    else if (this.#trouble !== undefined)
      states.showNotice(troubleNotice(`does not answer: ${this.#trouble}`));
    else states.showNotice(refusalNotice(this.#refusal));
  }

  #pin(key: string): void {
    const { pins, states } = this.#options;
    pins.pin('stream', key, 'reader');
    // As the service says, the key of streams may sign aggregates too.
    if (this.#signers.some(({ role, address }) => role === 'aggregate' && address === key))
      pins.pin('evm', key, 'reader');
    states.showPins(pins);
    states.showNotice(undefined);
  }
}
