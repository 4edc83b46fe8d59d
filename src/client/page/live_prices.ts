import {
  createStreamClient,
  EquivocationError,
  type PriceStream,
  ProtocolError,
  RefusedError,
  type ReportEvent,
  type ServiceSigner,
  type StreamClient,
  type Taxonomy,
  type TaxonomyAsset,
  type TicksealError,
  UnknownAssetError,
  UnsignedMappingError,
  UnverifiedError,
} from '../index.js';
import { assetKey, Board, type Fault, type Quote } from './board.js';
import { ConnectionLog, connectionState } from './connection_state.js';
import {
  EVIDENCE_NAME,
  equivocationNotice,
  faultOf,
  isOtherSigner,
  mappingFault,
  type Notice,
  noticeOf,
  offlineNotice,
} from './frame_fault.js';
import { pause } from './one_at_a_time.js';
import { pacedFetch } from './paced_fetch.js';
import { saveFile } from './parts.js';
import type { PinnedSigners } from './pins.js';
import { plainReason, reasonText } from './plain_reason.js';

/**
 * The channel with two frames a second, because people cannot read faster, and because the service signs every frame for this
 * page alone.
 */
const CHANNEL = '500ms';
/** The pause before a stream is opened again, after the service ended it for a reason other than its token. */
const REOPEN_MS = 5_000;
/** The shortest time between two reads of the keys that the service declares. */
const DECLARED_MS = 5_000;
/** The signer while no key is pinned and the service names no key. No key has this address. */
const NOBODY = `0x${'0'.repeat(40)}`;
const UNAUTHORIZED = 401;

export interface LivePricesOptions {
  readonly token: string;
  /** The address of the module of the worker that verifies payloads. */
  readonly worker: string;
  readonly pins: PinnedSigners;
  /** Called when the service's assets changed. */
  readonly onAssets: () => void;
  /** Called when a connection is open, and when a part of the stream did not arrive. */
  readonly onUp: () => void;
  /** Called after a change that the page shows. */
  readonly onChange: () => void;
  /** Called after a value was stored, in the same task in which its frame arrived. */
  readonly onValue: (quote: Quote) => void;
}

/** The verified prices of the wanted assets. The client verifies them. */
export class LivePrices {
  readonly client: StreamClient;
  readonly board = new Board();
  readonly connection = new ConnectionLog();
  readonly #options: LivePricesOptions;
  /** A client that accepts every key. Its list of assets and keys is only declared, so no price depends on it. */
  readonly #unchecked: StreamClient;
  /** The stream; `undefined` until the page has pinned a key. */
  #stream: PriceStream | undefined;
  #wanted: readonly string[] = [];
  /** The newest list that the service declared. Nobody may have signed it. */
  #declared: Pick<Taxonomy, 'signers' | 'assets'> = { signers: [], assets: [] };
  #declaredMs = Number.NEGATIVE_INFINITY;
  /** The newest accepted list. */
  #taxonomy: Taxonomy | undefined;
  #newestFrame: ReportEvent | undefined;
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
    const { token, worker } = options;
    const shared = { urls: location.origin, token, worker, inlinePerSecond: 0, fetch: pacedFetch() } as const;
    this.client = createStreamClient({ ...shared, signers: () => [this.#pinnedSigner()] });
    this.#unchecked = createStreamClient({ ...shared, signers: 'unchecked' });
    this.client.on('state', ({ state, reason }) => {
      if (state === 'open') {
        this.connection.isUp = true;
        options.onUp();
      } else if (state !== 'stale') this.#connectionLost(plainReason(reason));
      options.onChange();
    });
    this.client.on('gap', (gap) => {
      this.connection.missed(gap, performance.now());
      options.onUp();
    });
    this.client.on('taxonomy', ({ taxonomy }) => this.#useTaxonomy(taxonomy));
    this.client.on('report', (frame) => this.#takeReport(frame));
    this.client.on('error', (error) => this.#explainError(error));
    for (const name of ['online', 'offline'])
      addEventListener(name, () => {
        this.connection.isOnline = navigator.onLine;
        options.onChange();
      });
  }

  /** Reads prices while the service accepts the token. @throws RefusedError when the service refuses the token */
  async run(): Promise<never> {
    // The client checks the first list of assets with the pinned key.
    if (this.#options.pins.get('stream') === undefined) await this.#readDeclared();
    for (;;) {
      this.#stream = this.#open();
      try {
        for await (const tick of this.#stream) {
          this.board.apply(tick);
          this.#options.onValue(tick);
        }
      } catch (error) {
        if (error instanceof RefusedError && error.status === UNAUTHORIZED) throw error;
        this.#explainError(error as TicksealError);
        if (this.#unmapped !== undefined) this.#showFault(mappingFault(this.#unmapped, this.#streamSigner));
      }
      await pause(REOPEN_MS);
    }
  }

  /** Returns the number of assets that the service sends. */
  get subscribed(): number {
    return this.#stream?.subscribed.length ?? 0;
  }

  /** Returns the newest accepted list of assets. */
  get taxonomy(): Taxonomy | undefined {
    return this.#taxonomy;
  }

  /** Returns the newest verified payload with its report, if it has the asset. */
  frameOf({ id }: TaxonomyAsset): ReportEvent | undefined {
    const frame = this.#newestFrame;
    return frame?.report.payload?.assets.some((asset) => asset.id === id) ? frame : undefined;
  }

  /** Changes the set of wanted assets. */
  want(assets: readonly TaxonomyAsset[]): void {
    this.#wanted = [...new Set(assets.map(assetKey))];
    const before = this.#stream?.symbols ?? [];
    this.#stream?.add(this.#wanted.filter((name) => !before.includes(name)));
    this.#stream?.remove(before.filter((name) => !this.#wanted.includes(name)));
  }

  /** Returns the notice that the reader must see; `undefined` when nothing is wrong. */
  get notice(): Notice | undefined {
    const key = this.#streamSigner;
    const fault = this.board.fault ?? (this.#unmapped && mappingFault(this.#unmapped, key));
    const proven = this.#equivocation;
    if (proven !== undefined)
      return equivocationNotice(proven, () => saveFile(EVIDENCE_NAME, proven.evidence));
    if (fault !== undefined) return noticeOf(fault, key, () => this.#pinStreamKey(key));
    if (!this.connection.isOnline) return offlineNotice(this.board.asOfMs);
    const trouble =
      this.#trouble === undefined
        ? this.#refusal && `refuses to send all that is seen: ${this.#refusal}`
        : `does not answer: ${this.#trouble}`;
    return trouble === undefined
      ? undefined
      : { tone: 'bad', text: `The service ${trouble}. The page tries again.` };
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

  #connectionLost(reason: string): void {
    this.connection.down(reason);
    // Until the first connection, the page is empty, and only the notice can say why.
    if (this.board.assets.length === 0 && reason !== '') this.#trouble = reason;
  }

  /** The key for streaming payloads that the service declares; empty if it declares none. */
  get #streamSigner(): string {
    return this.#declared.signers.find(({ role }: ServiceSigner) => role === 'stream')?.address ?? '';
  }

  /**
   * Returns the key whose payloads count. Another tab may have removed the pins, so this call pins the key again if no pin is
   * left.
   */
  #pinnedSigner(): string {
    const { pins } = this.#options;
    pins.pinOnFirstUse('stream', this.#streamSigner);
    return pins.get('stream')?.key ?? NOBODY;
  }

  /** Reads the declared keys again, unless they were read just now. */
  async #readDeclared(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#declaredMs < DECLARED_MS) return;
    this.#declaredMs = nowMs;
    try {
      this.#declared = await this.#unchecked.taxonomy();
    } catch {
      // The stream reads the list again in any case, and reports the failure.
    }
    this.#options.onChange();
  }

  #useTaxonomy(taxonomy: Taxonomy): void {
    const { pins } = this.#options;
    this.#taxonomy = taxonomy;
    this.#declared = taxonomy;
    // The key of streams is pinned first, because the pin of the EVM key counts for streams until they have their own pin.
    pins.pinOnFirstUse('stream', this.#streamSigner);
    for (const { address, signatureType, role } of taxonomy.signers)
      if (role === 'aggregate') pins.pinOnFirstUse(signatureType, address);
    this.#trouble = undefined;
    this.#unmapped = undefined;
    this.#setAssets(taxonomy.assets);
    this.#options.onChange();
  }

  #setAssets(assets: readonly TaxonomyAsset[]): void {
    if (JSON.stringify(this.board.assets) === JSON.stringify(assets)) return;
    this.board.setAssets(assets);
    this.#newestFrame = undefined;
    this.#options.onAssets();
  }

  /** Refuses a list of assets. While the page shows no accepted list, the rows of this list say why they have no values. */
  async #refuseList(error: UnsignedMappingError): Promise<void> {
    this.#unmapped = error;
    await this.#readDeclared();
    if (this.#unmapped === undefined) return;
    if (this.board.assets.length > 0 && this.board.fault === undefined) return;
    this.board.blank(mappingFault(this.#unmapped, this.#streamSigner));
    this.#setAssets(this.#declared.assets);
    this.#options.onChange();
  }

  #takeReport(frame: ReportEvent): void {
    const { report } = frame;
    if (report.verdict === 'failed') {
      if (isOtherSigner(report)) void this.#readDeclared();
      this.#showFault(faultOf(report, this.#streamSigner));
      return;
    }
    const { timestampNs } = report.payload;
    this.board.pass(timestampNs);
    this.connection.passed(performance.now(), Date.now() - Number(timestampNs / 1_000_000n));
    this.#newestFrame = frame;
    if (this.subscribed === this.#wanted.length) this.#refusal = undefined;
    this.#trouble = undefined;
    this.#options.onChange();
  }

  #showFault(fault: Fault): void {
    this.connection.refused(performance.now());
    this.#newestFrame = undefined;
    this.board.blank(fault);
    this.#options.onChange();
  }

  #explainError(error: TicksealError): void {
    // The events `report` and `taxonomy` cover these two errors.
    if (error instanceof UnverifiedError || error instanceof UnknownAssetError) return;
    if (error instanceof UnsignedMappingError) void this.#refuseList(error);
    else if (error instanceof EquivocationError) this.#equivocation ??= error;
    else if (error instanceof ProtocolError) this.#refusal = error.message.slice(error.url.length + 2);
    // A single failed request is not reported while frames arrive.
    else if (connectionState(this.connection, 1, performance.now()).tone !== 'good')
      this.#trouble = reasonText(error);
    this.#options.onChange();
  }

  #pinStreamKey(key: string): void {
    const { pins } = this.#options;
    pins.pin('stream', key, 'reader');
    // The service declares that the key of streams may also sign aggregates.
    if (this.#declared.signers.some(({ role, address }) => role === 'aggregate' && address === key))
      pins.pin('evm', key, 'reader');
    this.#options.onChange();
  }
}
