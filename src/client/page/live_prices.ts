import {
  EquivocationError,
  ProtocolError,
  RefusedError,
  type TicksealError,
  UnknownAssetError,
  UnsignedMappingError,
  UnverifiedError,
} from '../connect/errors.js';
import { BROWSER } from '../connect/platform.js';
import type { GapEvent } from '../prices/client_context.js';
import type { PriceStream } from '../prices/price_stream.js';
import { StreamClient } from '../prices/stream_client.js';
import type { Taxonomy, TaxonomyAsset } from '../prices/taxonomy.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import { ageMs, assetKey, Board, type Fault } from './board.js';
import { ConnectionLog, connectionState } from './connection_state.js';
import { DeclaredKeys } from './declared_keys.js';
import { byId } from './elements.js';
import {
  equivocationNotice,
  faultOf,
  isOtherSigner,
  mappingFault,
  noticeOf,
  offlineNotice,
  refusalNotice,
  troubleNotice,
} from './frame_fault.js';
import { pacedFetch } from './paced_fetch.js';
import { pause } from './pause.js';
import type { PinnedSigners } from './pins.js';
import { plainReason, reasonText } from './plain_reason.js';
import { saveFile } from './save_button.js';
import { simulationText } from './simulation_text.js';
import type { StateBar } from './state_bar.js';

/**
 * The channel with two frames a second, because people cannot read faster, and because the service signs every frame for this
 * page alone.
 */
const CHANNEL = '500ms';
/** The pause before a stream is opened again, after the service ended it for a reason other than its token. */
const REOPEN_MS = 5_000;
/** The signer while no key is pinned and the service names no key. No key has this address. */
const NOBODY = `0x${'0'.repeat(40)}`;
const UNAUTHORIZED = 401;

export interface LivePricesOptions {
  readonly token: string;
  readonly pins: PinnedSigners;
  readonly states: StateBar;
  /** Called when the service's assets changed. */
  readonly onAssets: () => void;
  /** Called when a connection is open. */
  readonly onUp: (isFirst: boolean) => void;
  /** Called when a part of the stream did not arrive. */
  readonly onGap: (gap: GapEvent) => void;
  /** Called after the values of a frame were stored, so that the page can draw them. */
  readonly onChange: () => void;
  /** Called after a value was stored, in the same task in which its frame arrived. */
  readonly onValue: () => void;
}

/** The verified prices of the wanted assets. The client verifies them, and the state bar shows faults. */
export class LivePrices {
  readonly client: StreamClient;
  readonly board = new Board();
  readonly connection = new ConnectionLog();
  readonly #options: LivePricesOptions;
  /** The stream; `undefined` until the page has pinned a key. */
  #stream: PriceStream | undefined;
  #wanted: readonly string[] = [];
  readonly #keys = new DeclaredKeys();
  #oracleId: string | undefined;
  #newestPayload: { readonly hex: string; readonly ids: ReadonlySet<number> } | undefined;
  /** The reason why the service does not send all wanted assets. */
  #refusal: string | undefined;
  /** The proof that a key has signed two values for one time. */
  #equivocation: EquivocationError | undefined;
  /** The refusal of the newest list of assets; `undefined` after an accepted list. */
  #unmapped: UnsignedMappingError | undefined;
  /** The reason why no prices arrive. */
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
      else if (state !== 'stale') this.#down(plainReason(reason));
      options.onChange();
    });
    this.client.on('gap', (gap) => {
      this.connection.missed(gap, performance.now());
      options.onGap(gap);
    });
    this.client.on('taxonomy', ({ taxonomy }) => this.#useTaxonomy(taxonomy));
    this.client.on('report', ({ report, hex }) => this.#take(report, hex));
    this.client.on('error', (error) => this.#explain(error));
    for (const name of ['online', 'offline'])
      addEventListener(name, () => {
        this.connection.isOnline = navigator.onLine;
        this.#showNotice();
        options.onChange();
      });
  }

  /** Reads prices while the service accepts the token. @throws RefusedError when the service refuses the token */
  async run(): Promise<never> {
    // The client checks the first list of assets with the pinned key.
    if (this.#options.pins.get('stream') === undefined) await this.#keys.read(this.client);
    for (;;) {
      this.#stream = this.#open();
      try {
        for await (const tick of this.#stream) {
          this.board.apply(tick, performance.now());
          this.#options.onValue();
        }
      } catch (error) {
        if (error instanceof RefusedError && error.status === UNAUTHORIZED) throw error;
        this.#explain(error as TicksealError);
        if (this.#unmapped !== undefined) this.#fault(mappingFault(this.#unmapped, this.#keys.ofStreams));
      }
      await pause(REOPEN_MS);
    }
  }

  /** Returns the number of assets that the service sends. */
  get subscribed(): number {
    return this.#stream?.subscribed.length ?? 0;
  }

  get oracleId(): string | undefined {
    return this.#oracleId;
  }

  /** Returns the newest verified payload that holds the asset, as `0x` hex. */
  payloadOf({ id }: TaxonomyAsset): string | undefined {
    return this.#newestPayload?.ids.has(id) ? this.#newestPayload.hex : undefined;
  }

  /** Changes the set of wanted assets. */
  want(assets: readonly TaxonomyAsset[]): void {
    this.#wanted = [...new Set(assets.map(assetKey))];
    const before = this.#stream?.symbols ?? [];
    this.#stream?.add(this.#wanted.filter((name) => !before.includes(name)));
    this.#stream?.remove(before.filter((name) => !this.#wanted.includes(name)));
  }

  #open(): PriceStream {
    const stream = this.client.stream([], {
      channel: CHANNEL,
      attributes: ['ms', 'quality'],
      signatureType: 'both',
      // The client must not refuse old payloads if the clock of this computer is wrong. The page itself shows the age of each value.
      maxAgeMs: Number.POSITIVE_INFINITY,
    });
    // The service may remove a symbol that was added to a stream, but a symbol in the first request must exist.
    stream.add(this.#wanted);
    return stream;
  }

  #up(): void {
    const isFirst = this.connection.downReason === undefined;
    this.connection.up();
    this.#options.onUp(isFirst);
  }

  #down(reason: string): void {
    this.connection.down(reason);
    // Until the first connection, the page is empty, and only the notice can say why.
    if (this.board.assets.length > 0 || reason === '') return;
    this.#trouble = reason;
    this.#showNotice();
  }

  /**
   * Returns the key whose payloads count. Another tab may have removed the pins, so this call pins the key again if no pin is
   * left.
   */
  #pinnedSigner(): string {
    const { pins, states } = this.#options;
    if (pins.pinOnFirstUse('stream', this.#keys.ofStreams)) states.showPins(pins);
    return pins.get('stream')?.key ?? NOBODY;
  }

  #useTaxonomy(taxonomy: Taxonomy): void {
    const { assets, signers, oracleId } = taxonomy;
    const { pins, states } = this.#options;
    this.#keys.signers = signers;
    this.#oracleId = oracleId;
    // The key of streams is pinned first, because the pin of the EVM key counts for streams until they have their own pin.
    pins.pinOnFirstUse('stream', this.#keys.ofStreams);
    for (const { address, signatureType, role } of signers)
      if (role === 'aggregate') pins.pinOnFirstUse(signatureType, address);
    states.showPins(pins);
    const tag = byId('simulation');
    tag.textContent = simulationText(taxonomy);
    tag.hidden = tag.textContent === '';
    this.#trouble = undefined;
    this.#unmapped = undefined;
    this.#showNotice();
    this.#setAssets(assets);
  }

  #setAssets(assets: readonly TaxonomyAsset[]): void {
    if (JSON.stringify(this.board.assets) === JSON.stringify(assets)) return;
    this.board.setAssets(assets);
    this.#newestPayload = undefined;
    this.#options.onAssets();
  }

  /** Refuses a list of assets. While the page shows no accepted list, the rows of this list say why they have no values. */
  async #refuseList(error: UnsignedMappingError): Promise<void> {
    this.#unmapped = error;
    await this.#keys.read(this.client);
    if (this.#unmapped === undefined) return;
    if (this.board.assets.length === 0 || this.board.fault !== undefined) {
      this.board.blank(mappingFault(this.#unmapped, this.#keys.ofStreams));
      this.#setAssets(this.#keys.assets);
      this.#options.onChange();
    }
    this.#showNotice();
  }

  #take(report: PayloadReport, hex: string): void {
    if (report.verdict === 'failed') {
      if (isOtherSigner(report)) void this.#keys.read(this.client);
      this.#fault(faultOf(report, this.#keys.ofStreams));
      return;
    }
    const { timestampNs, assets } = report.payload;
    const nowMs = performance.now();
    this.board.pass(timestampNs);
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

  #fault(fault: Fault): void {
    this.connection.refused(performance.now());
    this.#newestPayload = undefined;
    this.board.blank(fault);
    this.#showNotice();
    this.#options.onChange();
  }

  #explain(error: TicksealError): void {
    // The events `report` and `taxonomy` cover these two errors.
    if (error instanceof UnverifiedError || error instanceof UnknownAssetError) return;
    if (error instanceof UnsignedMappingError) void this.#refuseList(error);
    else if (error instanceof EquivocationError) this.#equivocation ??= error;
    else if (error instanceof ProtocolError) this.#refusal = error.message.slice(error.url.length + 2);
    // A single failed request is not reported while frames arrive.
    else if (connectionState(this.connection, 1, performance.now()).tone !== 'good')
      this.#trouble = reasonText(error);
    this.#showNotice();
  }

  #showNotice(): void {
    const { states } = this.#options;
    const key = this.#keys.ofStreams;
    const fault = this.board.fault ?? (this.#unmapped && mappingFault(this.#unmapped, key));
    const equivocation = this.#equivocation;
    if (equivocation !== undefined) states.showNotice(equivocationNotice(equivocation, saveFile));
    else if (fault !== undefined) states.showNotice(noticeOf(fault, key, () => this.#pin(key)));
    else if (!this.connection.isOnline) states.showNotice(offlineNotice(this.board.asOfMs));
    else if (this.#trouble !== undefined)
      states.showNotice(troubleNotice(`does not answer: ${this.#trouble}`));
    else states.showNotice(refusalNotice(this.#refusal));
  }

  #pin(key: string): void {
    const { pins, states } = this.#options;
    pins.pin('stream', key, 'reader');
    // The service declares that the key of streams may also sign aggregates.
    if (this.#keys.signers.some(({ role, address }) => role === 'aggregate' && address === key))
      pins.pin('evm', key, 'reader');
    states.showPins(pins);
    states.showNotice(undefined);
  }
}
