import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { AggregateView } from './aggregate_view.js';
import { AssetDetail } from './asset_detail.js';
import { AssetList } from './asset_list.js';
import type { ChosenBy } from './asset_table.js';
import { BasePrices } from './base_prices.js';
import { assetKey, type Board } from './board.js';
import { CompareChoice } from './compare_choice.js';
import { copyButton } from './copy_button.js';
import { CurrentNodes } from './current_nodes.js';
import { byId, oncePerFrame } from './elements.js';
import { listenToKeys } from './key_bindings.js';
import { LivePrices } from './live_prices.js';
import { LogRing } from './log_ring.js';
import type { PinnedSigners } from './pins.js';
import { NARROW, PlaceTravel } from './place_travel.js';
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
  readonly #nowMs: () => number;
  readonly #aggregate = new AggregateView();
  readonly #compare = new CompareChoice(() => {
    this.#compareChanged();
    this.#travel.goTo('click');
  });
  readonly #time = new TimeTravel(this.#states, (at) => this.#travel.goToTime(at));
  readonly #travel: PlaceTravel;
  #hasAssets = false;

  constructor(options: LivePageOptions) {
    this.#options = options;
    const { token, pins } = options;
    this.#prices = new LivePrices({
      token,
      pins,
      states: this.#states,
      onAssets: () => this.#showAssets(),
      onUp: (isFirst) => {
        void this.#nodes.read();
        if (!isFirst) void this.#chart.reload();
      },
      onGap: (gap) => this.#chart.missed(gap),
      onChange: () => this.#drawSoon(),
      // The chart draws in the next animation frame itself, so it takes a value before the page draws in that frame.
      onValue: () => this.#detail.continueChart(),
    });
    const { client, board, connection } = this.#prices;
    const nowMs = () => Date.now() - connection.aheadMs;
    this.#nowMs = nowMs;
    this.#board = board;
    this.#bases = new BasePrices({ get: (path) => client.get(path), nowMs });
    const changeOf = (asset: TaxonomyAsset, price: bigint) => this.#bases.change(asset, price);
    this.#nodes = new CurrentNodes(client, () => this.#states.showNodes(this.#nodes.log));
    const onHistory = (problem: string | undefined) => {
      const rest =
        this.#time.atNs === undefined
          ? '; what follows it live is verified.'
          : '. Its last candle may end after the chosen time.';
      byId('history').textContent = problem ?? `History is not signed${rest}`;
    };
    this.#chart = new PriceChart({ container: byId('chart'), client, onHistory });
    this.#detail = new AssetDetail({
      board,
      chart: this.#chart,
      changeOf,
      past: () => this.#time.view(this.#proof.proven, this.#proof.problem),
      compared: () => this.#compare.asset(this.#detail.asset),
      onResolution: (by) => this.#travel.goTo(by),
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
        this.#drawDetail(performance.now());
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
    this.#travel = new PlaceTravel({
      board,
      states: this.#states,
      detail: this.#detail,
      compare: this.#compare,
      time: this.#time,
      choose: (asset) => this.#list.table.choose(asset, 'page'),
      show: (asset) => this.#show(asset),
      onCompared: () => this.#compareChanged(),
      showDetail: (isShown) => this.#showDetail(isShown),
    });
  }

  /** Shows prices while the service accepts the token. @throws RefusedError when the service refuses the token */
  run(): Promise<never> {
    setInterval(() => this.#drawSoon(), DRAW_MS);
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
    byId('share').replaceChildren(
      copyButton('Copy link', () => shareLink(this.#travel.place, this.#options.pins)),
    );
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
    if (by !== 'page' && (isOther || !this.#travel.hasAsset)) this.#travel.goTo(by);
    if (NARROW.matches) this.#showDetail(true);
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
    this.#travel.leave();
    this.#showDetail(false);
    return true;
  }

  #showDetail(isShown: boolean): void {
    const { classList } = document.body;
    const isLeft = classList.contains('detailed') && !isShown;
    classList.toggle('detailed', isShown);
    if (isLeft) byId('grid').focus({ preventScroll: true });
  }

  /** The assets that a reader sees. A hidden page shows the chosen asset in its title. */
  get #wanted(): readonly TaxonomyAsset[] {
    const chosen = this.#detail.asset;
    const { seen } = this.#list;
    const compared = document.hidden ? undefined : this.#compare.asset(chosen);
    return [
      ...seen,
      ...(chosen === undefined ? [] : [chosen]),
      ...(compared === undefined ? [] : [compared]),
    ];
  }

  #compareChanged(): void {
    this.#want();
    this.#detail.showCompared();
  }

  #want(): void {
    this.#prices.want(this.#wanted);
  }

  #showAssets(): void {
    this.#list.showGroups();
    this.#compare.offer(this.#board.assets);
    if (this.#hasAssets) this.#followChosen();
    else this.#travel.open();
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

  readonly #drawSoon = oncePerFrame(() => this.#draw());

  #draw(): void {
    const nowMs = performance.now();
    void this.#bases.read(this.#wanted);
    void this.#ring.follow(nowMs);
    this.#list.draw();
    this.#drawDetail(nowMs);
    const { connection, subscribed } = this.#prices;
    this.#states.showConnection(connection, subscribed, this.#nodes.log, nowMs);
  }

  #drawDetail(nowMs: number): void {
    this.#detail.draw(nowMs);
    const { asset, seal } = this.#detail;
    const isPast = this.#time.atNs !== undefined;
    const quote = isPast || asset === undefined ? undefined : this.#board.quote(asset);
    this.#aggregate.draw({
      quote,
      seal,
      isPast,
      proven: this.#proof.proven,
      nowMs,
      serviceMs: this.#nowMs(),
    });
  }
}
