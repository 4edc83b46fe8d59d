import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { AssetDetail } from './asset_detail.js';
import { AssetList } from './asset_list.js';
import type { ChosenBy } from './asset_table.js';
import { BasePrices } from './base_prices.js';
import { assetKey, type Board } from './board.js';
import { copyButton } from './copy_button.js';
import { CurrentNodes } from './current_nodes.js';
import { byId, drawWithFrame } from './elements.js';
import { assetAt, type PagePlace, readPlace } from './fragment.js';
import { listenToKeys } from './key_bindings.js';
import { LivePrices } from './live_prices.js';
import { LogRing } from './log_ring.js';
import { PageAddress } from './page_address.js';
import type { PinnedSigners } from './pins.js';
import { PriceChart } from './price_chart.js';
import { ProofPanel } from './proof_panel.js';
import { ProofVerifier } from './proof_verifier.js';
import { SealButton } from './seal_button.js';
import type { SealFacts } from './seal_card.js';
import { shareLink } from './share_link.js';
import { StateBar } from './state_bar.js';
import { TimeTravel } from './time_travel.js';

/** The interval at which ages and states are drawn again while no frame comes. */
const DRAW_MS = 500;
/** The width below which the page shows either the list or the chosen asset. The style sheet has the same width. */
const NARROW = matchMedia('(max-width: 60rem)');

export interface LivePageOptions {
  readonly token: string;
  readonly pins: PinnedSigners;
}

/** The page after the login. This class joins the prices, the table, the chosen asset and its proof. */
export class LivePage {
  readonly #options: LivePageOptions;
  readonly #prices: LivePrices;
  readonly #board: Board;
  readonly #states = new StateBar();
  readonly #nodes: CurrentNodes;
  readonly #list: AssetList;
  readonly #chart: PriceChart;
  readonly #detail: AssetDetail;
  readonly #proof: ProofPanel;
  readonly #verifier = new ProofVerifier(byId<HTMLLinkElement>('worker').href);
  readonly #seal = new SealButton(() => this.#sealFacts());
  readonly #ring = new LogRing({
    get: (path) => this.#prices.client.get(path),
    proven: () => this.#proof.proven,
    onChange: () => void this.#seal.showLog(),
  });
  readonly #bases: BasePrices;
  readonly #address = new PageAddress((place) => this.#travel(place));
  readonly #time = new TimeTravel((at) => {
    this.#address.push({ ...this.#place, at });
    this.#goToTime(at);
  });
  #hasAssets = false;

  constructor(options: LivePageOptions) {
    this.#options = options;
    const { pins } = options;
    this.#prices = new LivePrices({
      ...options,
      states: this.#states,
      onAssets: () => this.#showAssets(),
      onUp: (isFirst) => {
        void this.#nodes.read();
        if (!isFirst) void this.#chart.reload();
      },
      onChange: () => drawWithFrame(() => this.#draw()),
    });
    const { client, board, connection } = this.#prices;
    const nowMs = () => Date.now() - connection.aheadMs;
    this.#board = board;
    this.#bases = new BasePrices({ get: (path) => client.get(path), nowMs });
    const changeOf = (asset: TaxonomyAsset, price: bigint) => this.#bases.change(asset, price);
    this.#nodes = new CurrentNodes(client, () => this.#states.showNodes(this.#nodes.log));
    const onHistory = (problem: string | undefined) => {
      byId('history').textContent = problem ?? 'History is not signed; what follows it live is verified.';
    };
    this.#chart = new PriceChart({ container: byId('chart'), client, onHistory });
    this.#detail = new AssetDetail({
      board,
      chart: this.#chart,
      changeOf,
      past: () => this.#time.view(this.#proof.proven, this.#proof.problem),
      onResolution: (by) => this.#goTo(by),
    });
    this.#proof = new ProofPanel({
      root: document.querySelector<HTMLElement>('.proof')!,
      client,
      verifier: this.#verifier,
      signerOf: ({ signatureType }) => pins.get(signatureType)?.key,
      oracleId: () => this.#prices.oracleId,
      nowMs,
      payloadOf: (asset) => this.#prices.payloadOf(asset),
      onRead: () => {
        this.#seal.continue();
        this.#detail.draw(performance.now());
      },
    });
    this.#list = new AssetList({
      board,
      bases: this.#bases,
      get: (path) => client.get(path),
      nowMs,
      subscribed: () => this.#prices.subscribed,
      onChoose: (asset, by) => this.#choose(asset, by),
      onSeen: () => this.#want(),
    });
  }

  /** Shows prices while the service accepts the token. @throws RefusedError when the service refuses the token */
  run(): Promise<never> {
    setInterval(() => this.#draw(), DRAW_MS);
    document.addEventListener('visibilitychange', () => {
      this.#want();
      if (!document.hidden) void this.#chart.reload();
    });
    this.#listen();
    return this.#prices.run();
  }

  #listen(): void {
    byId('connection').addEventListener('toggle', () => this.#draw());
    byId('back').addEventListener('click', () => this.#back());
    byId('share').replaceChildren(copyButton('Copy link', () => shareLink(this.#place, this.#options.pins)));
    byId('signer-forget').addEventListener('click', () => {
      this.#options.pins.forget();
      location.reload();
    });
    const { table } = this.#list;
    listenToKeys({
      search: byId<HTMLInputElement>('search'),
      grid: byId('grid'),
      move: (rows) => table.move(rows),
      pageRows: () => table.pageRows,
      moveResolution: (step) => this.#detail.moveResolution(step),
      star: () => this.#detail.asset !== undefined && this.#list.star(this.#detail.asset),
      back: () => this.#back(),
      searched: () => this.#list.show(),
    });
  }

  /**
   * Shows an asset on the right. On a narrow screen the asset replaces the list, and the browser's back button returns to the
   * list.
   */
  #choose(asset: TaxonomyAsset, by: ChosenBy): void {
    const { asset: before } = this.#detail;
    const isOther = before === undefined || assetKey(before) !== assetKey(asset);
    if (isOther) this.#show(asset);
    if (by !== 'page' && (isOther || this.#address.place.symbol === undefined)) this.#goTo(by);
    if (NARROW.matches) this.#showDetail(true);
  }

  /** Writes the reader's choice into the address. On a narrow screen a key also leads from the list to the asset. */
  #goTo(by: 'click' | 'key'): void {
    if (by === 'click' || NARROW.matches) this.#address.push(this.#place);
    else this.#address.pushAfterRest(this.#place);
  }

  /** The place of the chosen asset, at the time that the page shows. */
  get #place(): PagePlace {
    const { asset, resolution } = this.#detail;
    return { symbol: asset?.symbol, signatureType: asset?.signatureType, resolution, at: this.#time.text };
  }

  /** @param next the asset that is chosen afterwards. Another asset than the shown one is then read once, at the new time. */
  #goToTime(at: string | undefined, next = this.#detail.asset): void {
    const { asset } = this.#detail;
    if (this.#time.goTo(at) && asset && next && assetKey(asset) === assetKey(next)) this.#show(asset);
  }

  /** Opens the place of the address when the assets are known; on a wide screen without a place, the first asset. */
  #openPlace(): void {
    const { place } = this.#address;
    this.#travel(place);
    if (NARROW.matches) {
      if (this.#detail.asset === undefined || this.#address.isInside) return;
      // The list becomes the entry before the asset, so that Back leads there and not away from the page.
      const { symbol, ...rest } = this.#place;
      this.#address.replace({ ...rest, symbol: undefined });
      this.#address.push({ ...rest, symbol, at: place.at });
      return;
    }
    if (this.#detail.asset === undefined) this.#list.table.choose(this.#board.assets[0]!, 'page');
    this.#address.replace(this.#place);
  }

  /** Shows the place that the reader went to. */
  #travel(place: PagePlace): void {
    const asset = assetAt(this.#board.assets, place);
    this.#goToTime(place.at, asset);
    if (asset !== undefined) {
      if (place.resolution !== this.#detail.resolution) this.#detail.showResolution(place.resolution);
      this.#list.table.choose(asset, 'page');
    } else if (place.symbol === undefined) {
      if (NARROW.matches) this.#showDetail(false);
    } else if (this.#board.assets.length > 0)
      new StateBar().showNotice({
        tone: 'info',
        text: `The link names the asset ${place.symbol}, which this service does not have.`,
      });
  }

  /** Returns the facts behind the seal of the chosen asset. */
  #sealFacts(): SealFacts | undefined {
    const { asset } = this.#detail;
    if (asset === undefined) return undefined;
    const { pins } = this.#options;
    const hex = this.#time.atNs === undefined ? this.#prices.payloadOf(asset) : undefined;
    const pin = pins.get('stream');
    return {
      symbol: asset.symbol,
      sealText: this.#detail.sealText,
      isVerified: this.#detail.seal === 'verified',
      proven: this.#proof.proven,
      pin: pins.get(asset.signatureType),
      frame: hex === undefined || pin === undefined ? undefined : { hex, id: asset.id, pin },
      log: this.#ring.state,
      verify: (request) => this.#verifier.verify(request),
    };
  }

  #show(asset: TaxonomyAsset | undefined): void {
    this.#seal.close();
    this.#detail.show(asset);
    this.#proof.show(asset, this.#time.atNs);
    this.#ring.forget();
    this.#want();
  }

  /** Leaves the asset on a narrow screen. @returns true if the asset was shown there */
  #back(): boolean {
    if (!document.body.classList.contains('detailed')) return false;
    this.#address.push(readPlace(''));
    this.#showDetail(false);
    return true;
  }

  #showDetail(isShown: boolean): void {
    document.body.classList.toggle('detailed', isShown);
    if (!isShown) byId('grid').focus({ preventScroll: true });
  }

  /** The assets that a reader sees. A hidden page shows the chosen asset in its title. */
  get #wanted(): readonly TaxonomyAsset[] {
    const chosen = this.#detail.asset;
    const { seen } = this.#list;
    return chosen === undefined ? seen : [...seen, chosen];
  }

  #want(): void {
    this.#prices.want(this.#wanted);
  }

  #showAssets(): void {
    this.#list.showGroups();
    if (this.#hasAssets) this.#followChosen();
    else this.#openPlace();
    this.#hasAssets = true;
  }

  /** Updates the chosen asset, which may have another streaming ID now or may be removed. */
  #followChosen(): void {
    const { asset: before } = this.#detail;
    if (before === undefined) return;
    const after = this.#board.assets.find((asset) => assetKey(asset) === assetKey(before));
    if (after === undefined) this.#back();
    if (JSON.stringify(after) !== JSON.stringify(before)) this.#show(after);
  }

  #draw(): void {
    const nowMs = performance.now();
    void this.#bases.read(this.#wanted);
    void this.#ring.follow(nowMs);
    this.#list.draw();
    this.#detail.draw(nowMs);
    this.#detail.continueChart();
    const { connection, subscribed } = this.#prices;
    this.#states.showConnection(connection, subscribed, this.#nodes.log, nowMs);
  }
}
