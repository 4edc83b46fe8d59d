import type { Down } from '../connect/reconnecting_socket.js';
import type { Taxonomy, TaxonomyAsset } from '../prices/taxonomy.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import { AssetDetail } from './asset_detail.js';
import { AssetTable } from './asset_table.js';
import { BasePrices } from './base_prices.js';
import { ageMs, assetKey, Board, type Fault, searchAssets } from './board.js';
import { ConnectionLog } from './connection_state.js';
import { CurrentNodes } from './current_nodes.js';
import { CurrentTaxonomy } from './current_taxonomy.js';
import { byId } from './elements.js';
import { faultOf, isOtherSigner, noticeOf, refusalNotice, troubleNotice } from './frame_fault.js';
import { listenToKeys } from './key_bindings.js';
import { PacedRest } from './paced_rest.js';
import { PageStream } from './page_stream.js';
import type { PinnedSigners } from './pins.js';
import { PriceChart } from './price_chart.js';
import { ProofPanel } from './proof_panel.js';
import { StateBar } from './state_bar.js';
import { Verifier } from './verifier.js';

/** How often ages and states are drawn anew when no frame comes. */
const DRAW_MS = 500;
/** Below this width the list and the chosen asset take turns; the style sheet says the same. */
const NARROW = matchMedia('(max-width: 60rem)');

type FrameReport = PayloadReport<readonly string[]>;

export interface LivePageOptions {
  readonly token: string;
  readonly pins: PinnedSigners;
  /** The service does not take the token (any more): a sentence. */
  readonly onRefused: (reason: string) => void;
}

/** The page behind the login: joins the stream, the table, the chosen asset and its proof. */
export class LivePage {
  readonly #options: LivePageOptions;
  readonly #api: PacedRest;
  readonly #verifier = new Verifier();
  readonly #board = new Board();
  readonly #states = new StateBar();
  readonly #connection = new ConnectionLog();
  readonly #taxonomy: CurrentTaxonomy;
  readonly #nodes: CurrentNodes;
  readonly #table: AssetTable;
  readonly #chart: PriceChart;
  readonly #detail: AssetDetail;
  readonly #proof: ProofPanel;
  readonly #bases: BasePrices;
  #stream!: PageStream;
  #seen: readonly TaxonomyAsset[] = [];
  #newestPayload: { readonly hex: string; readonly ids: ReadonlySet<number> } | undefined;
  constructor(options: LivePageOptions) {
    this.#options = options;
    const api = new PacedRest(options.token);
    const board = this.#board;
    const nowMs = () => Date.now() - this.#connection.aheadMs;
    this.#bases = new BasePrices({ query: (path, parameters) => api.query(path, parameters), nowMs });
    const changeOf = (asset: TaxonomyAsset, price: bigint) => this.#bases.change(asset, price);
    this.#api = api;
    this.#nodes = new CurrentNodes(api, () => this.#states.showNodes(this.#nodes.log));
    this.#taxonomy = new CurrentTaxonomy({
      api,
      inUse: () => this.#wanted,
      onRead: (taxonomy) => this.#useTaxonomy(taxonomy),
      onProblem: (reason) => this.#states.showNotice(troubleNotice(`does not answer: ${reason}`)),
    });
    const onHistory = (problem: string | undefined) => {
      byId('history').textContent = problem ?? 'History is not signed; what follows it live is verified.';
    };
    this.#chart = new PriceChart({ container: byId('chart'), api, onHistory });
    this.#detail = new AssetDetail({ board, chart: this.#chart, changeOf });
    this.#proof = new ProofPanel({
      root: document.querySelector<HTMLElement>('.proof')!,
      api,
      verifier: this.#verifier,
      signerOf: ({ signatureType }) => options.pins.get(signatureType)?.key,
      oracleId: () => this.#taxonomy.value.oracleId,
      nowMs,
      payloadOf: ({ id }) => (this.#newestPayload?.ids.has(id) ? this.#newestPayload.hex : undefined),
    });
    this.#table = new AssetTable({
      grid: byId('grid'),
      board,
      changeOf,
      onChoose: (asset) => this.#choose(asset),
      onSeen: (assets) => {
        this.#seen = assets;
        this.#want();
      },
    });
  }

  /** Connects. @throws RefusedError when the service refuses the token. */
  async start(): Promise<void> {
    await this.#taxonomy.start();
    this.#states.showNotice(undefined);
    this.#stream = new PageStream({
      api: this.#api,
      verifier: this.#verifier,
      expected: () => this.#expected(),
      onReport: (report, hex) => this.#take(report, hex),
      onUp: () => this.#up(),
      onDown: (down) => this.#down(down),
      onUnverifiable: (reason) => this.#fault({ seal: 'failed', reason }),
      onRefused: (reason) => {
        this.#states.showNotice(refusalNotice(reason));
        this.#taxonomy.refresh(); // an asset may have left it
      },
      onTaxonomyChange: () => this.#renewTaxonomy(),
    });
    setInterval(() => this.#draw(), DRAW_MS);
    document.addEventListener('visibilitychange', () => {
      this.#want();
      if (!document.hidden) void this.#chart.reload();
    });
    this.#listen();
    const [first] = this.#board.assets;
    if (first !== undefined && !NARROW.matches) this.#table.choose(first);
  }

  #listen(): void {
    const search = byId<HTMLInputElement>('search');
    search.addEventListener('input', () => this.#search());
    byId('connection').addEventListener('toggle', () => this.#draw());
    byId('back').addEventListener('click', () => history.back());
    addEventListener('popstate', () => this.#showDetail(false));
    byId('signer-forget').addEventListener('click', () => {
      this.#options.pins.forget();
      location.reload();
    });
    listenToKeys({
      search,
      grid: byId('grid'),
      move: (rows) => this.#table.move(rows),
      pageRows: () => this.#table.pageRows,
      moveResolution: (step) => this.#detail.moveResolution(step),
      back: () => this.#back(),
      searched: () => this.#search(),
    });
  }

  #search(): void {
    const found = searchAssets(this.#board.assets, byId<HTMLInputElement>('search').value);
    this.#table.show(found);
    byId('no-hit').textContent = found.length === 0 ? 'No asset has this in its symbol.' : '';
    this.#drawCount();
  }

  /** Shows an asset on the right; on a narrow screen in place of the list, and the browser's way back returns to it. */
  #choose(asset: TaxonomyAsset): void {
    const { asset: before } = this.#detail;
    if (before === undefined || assetKey(before) !== assetKey(asset)) this.#show(asset);
    if (NARROW.matches && !document.body.classList.contains('detailed')) {
      history.pushState('detail', '');
      this.#showDetail(true);
    }
  }

  #show(asset: TaxonomyAsset | undefined): void {
    this.#detail.show(asset);
    this.#proof.show(asset);
    this.#want();
  }

  /** Leaves the asset on a narrow screen. @returns whether it stood there */
  #back(): boolean {
    const isDetailed = document.body.classList.contains('detailed');
    if (isDetailed) history.back();
    return isDetailed;
  }

  #showDetail(isShown: boolean): void {
    document.body.classList.toggle('detailed', isShown);
    if (!isShown) byId('grid').focus({ preventScroll: true });
  }

  /** What somebody sees. */
  get #wanted(): readonly TaxonomyAsset[] {
    const chosen = this.#detail.asset;
    return document.hidden ? [] : chosen === undefined ? this.#seen : [...this.#seen, chosen];
  }

  #want(): void {
    this.#stream.want(new Set(this.#wanted.map(({ id }) => id)));
  }

  /** Another tab may have forgotten the pins; then this is a first use again. */
  #expected(): { readonly signers: readonly string[]; readonly taxonomyId: number } {
    const { streamSigner, value } = this.#taxonomy;
    const { pins } = this.#options;
    if (pins.pinOnFirstUse('stream', streamSigner)) this.#states.showPins(pins);
    return { signers: [pins.get('stream')!.key], taxonomyId: value.taxonomyId };
  }

  #useTaxonomy({ assets, simulation, signers }: Taxonomy): void {
    const { pins } = this.#options;
    // Streams first: until they have a pin of their own, the one of the EVM key counts for them.
    pins.pinOnFirstUse('stream', this.#taxonomy.streamSigner);
    for (const { address, signatureType, role } of signers)
      if (role === 'aggregate') pins.pinOnFirstUse(signatureType, address);
    this.#states.showPins(pins);
    byId('simulation').hidden = !simulation;
    if (JSON.stringify(this.#board.assets) === JSON.stringify(assets)) return;
    this.#board.setAssets(assets);
    this.#newestPayload = undefined;
    this.#search();
    this.#followChosen();
  }

  /** The chosen asset may have another streaming ID now, or be gone. */
  #followChosen(): void {
    const { asset: before } = this.#detail;
    if (before === undefined) return;
    const after = this.#board.assets.find((asset) => assetKey(asset) === assetKey(before));
    if (after === undefined) this.#back();
    if (JSON.stringify(after) !== JSON.stringify(before)) this.#show(after);
  }

  #up(): void {
    this.#connection.up();
    void this.#nodes.read();
    this.#board.restart();
    if (this.#connection.downReason !== undefined) {
      void this.#chart.reload();
      this.#renewTaxonomy();
    }
    this.#draw();
  }

  /** Until it is read, the values of frames belong to nobody. */
  #renewTaxonomy(): void {
    this.#board.clear();
    this.#newestPayload = undefined;
    this.#taxonomy.renew();
  }

  #down({ reason, final }: Down): void {
    this.#connection.down(reason);
    this.#draw();
    if (final) this.#options.onRefused(reason);
  }

  #take(report: FrameReport, hex: string): void {
    if (!this.#taxonomy.isCurrent) return;
    if (report.verdict === 'failed') {
      if (isOtherSigner(report)) this.#taxonomy.refresh();
      this.#fault(faultOf(report, this.#taxonomy.streamSigner));
      return;
    }
    const { payload } = report;
    const nowMs = performance.now();
    const fault = this.#board.apply(payload, nowMs);
    if (fault !== undefined) {
      this.#fault(fault);
      return;
    }
    this.#connection.passed(nowMs, ageMs(payload.timestampNs, Date.now()));
    this.#newestPayload = {
      hex: hex.startsWith('0x') ? hex : `0x${hex}`,
      ids: new Set(payload.assets.map(({ id }) => id)),
    };
    this.#states.showNotice(refusalNotice(this.#stream.refusal));
    this.#draw();
    this.#detail.continueChart();
  }

  #fault(fault: Fault): void {
    this.#connection.refused(performance.now());
    this.#newestPayload = undefined;
    this.#board.blank(fault);
    const { streamSigner } = this.#taxonomy;
    this.#states.showNotice(noticeOf(fault, streamSigner, () => this.#pin(streamSigner)));
    this.#draw();
  }

  #pin(key: string): void {
    const { pins } = this.#options;
    pins.pin('stream', key, 'reader');
    if (this.#taxonomy.signsAggregates(key)) pins.pin('evm', key, 'reader');
    this.#states.showPins(pins);
    this.#states.showNotice(undefined);
  }

  #draw(): void {
    const nowMs = performance.now();
    void this.#bases.read(this.#wanted);
    this.#table.draw();
    this.#detail.draw(nowMs);
    this.#drawCount();
    this.#states.showConnection(this.#connection, this.#stream.subscribed, this.#nodes.log, nowMs);
  }

  #drawCount(): void {
    const { length } = this.#board.assets;
    const subscribed = this.#stream === undefined ? 0 : this.#stream.subscribed;
    byId('count').textContent = `${length.toLocaleString('en')} assets, ${subscribed} subscribed`;
  }
}
