import { html, nothing, render } from 'lit-html';
import { REST_PATHS } from '../../wire/paths.js';
import type { TaxonomyAsset } from '../index.js';
import { readNodes } from './answers.js';
import { detailView } from './asset_detail.js';
import { AssetList } from './asset_list.js';
import { barView, noticeView } from './bar_view.js';
import { SEAL_TEXTS } from './board.js';
import { ChosenAsset } from './chosen_asset.js';
import { listenToKeys } from './key_bindings.js';
import { CHART_INTERVALS } from './live_candles.js';
import { LivePrices } from './live_prices.js';
import { LogRing } from './log_ring.js';
import { NodeLog } from './node_log.js';
import { operatorCard } from './operator_view.js';
import { FLASH_MS, sign, type View } from './parts.js';
import type { PinnedSigners } from './pins.js';
import { PlaceTravel } from './place_travel.js';
import { PriceChart } from './price_chart.js';
import { ageText, clockText, simulationText } from './price_text.js';
import { ProofReader } from './proof_reader.js';
import { addOperator } from './quorum_link.js';
import { SealCard } from './seal_card.js';

/** The interval at which ages and states are drawn again while no frame comes. */
const DRAW_MS = 500;
/** The interval at which the nodes of a cluster are requested. */
const NODES_MS = 3_000;
/** The time after a frame at which no changed digit is coloured any more. */
const FLASH_END_MS = FLASH_MS + 20;

export interface LivePageOptions {
  readonly root: HTMLElement;
  /** The address of the module of both workers. */
  readonly worker: string;
  readonly token: string;
  /** True for a token that the service gives to everybody. */
  readonly isPublic: boolean;
  readonly pins: PinnedSigners;
  /** A remark about the link that opened the page; empty for none. */
  readonly remark: string;
  readonly onSignOut: () => void;
}

/** The page after the login. This class joins the prices, the list, the chosen asset and its proof. */
export class LivePage {
  readonly #options: LivePageOptions;
  readonly #prices: LivePrices;
  readonly #list: AssetList;
  readonly #chart: PriceChart;
  readonly #ring: LogRing;
  readonly #card: SealCard;
  readonly #chosen: ChosenAsset;
  readonly #nodes = new NodeLog();
  readonly #travel: PlaceTravel;
  #hasAssets = false;
  #isDrawing = false;
  #isPainted = false;

  constructor(options: LivePageOptions) {
    this.#options = options;
    const { token, worker, pins } = options;
    const draw = () => this.#drawSoon();
    this.#prices = new LivePrices({
      token,
      worker,
      pins,
      onAssets: () => this.#showAssets(),
      onUp: (isFirst) => {
        void this.#readNodes();
        if (!isFirst) void this.#chart.reload();
      },
      onGap: () => void this.#chart.reload(),
      onChange: () => {
        draw();
        setTimeout(draw, FLASH_END_MS);
      },
      // The chart draws in the next animation frame itself, so it takes a value before the page draws in that frame.
      onValue: () => this.#chosen.continueChart(),
    });
    const { client, board, connection } = this.#prices;
    const serviceMs = () => Date.now() - connection.aheadMs;
    this.#list = new AssetList({
      values: board,
      sealOf: (asset, nowMs) => this.#sealOf(asset, nowMs),
      get: (path) => client.get(path),
      nowMs: serviceMs,
      onChoose: (asset, by) => this.#travel.choose(asset, by),
      onSeal: () => this.#card.open(),
      onSeen: () => this.#wantSeenAssets(),
      draw,
    });
    this.#chart = new PriceChart({
      client,
      onHistory: (problem) => {
        this.#chosen.historyProblem = problem;
        draw();
      },
      onUncompare: () => this.#travel.change({ compare: undefined }, 'click'),
    });
    const proof = new ProofReader({
      client,
      worker,
      signerOf: ({ signatureType }) => pins.get(signatureType)?.key,
      oracleId: () => this.#prices.taxonomy?.oracleId,
      onRead: draw,
    });
    this.#ring = new LogRing({ client, proven: () => proof.proven, onChange: draw });
    this.#card = new SealCard((request) => proof.verify(request), draw);
    this.#chosen = new ChosenAsset({
      prices: this.#prices,
      pins,
      bases: this.#list.bases,
      chart: this.#chart,
      proof,
      ring: this.#ring,
      serviceMs,
    });
    this.#travel = new PlaceTravel(options.remark, {
      board,
      pins,
      chosen: this.#chosen,
      mark: (asset) => this.#list.mark(asset),
      onOther: () => this.#card.reset(),
      onChange: () => {
        this.#wantSeenAssets();
        this.#draw();
      },
    });
  }

  /** Shows prices while the service accepts the token. @throws RefusedError when the service refuses the token */
  run(): Promise<never> {
    this.#draw();
    setInterval(() => this.#drawSoon(), DRAW_MS);
    setInterval(() => this.#nodes.isCluster && !document.hidden && void this.#readNodes(), NODES_MS);
    document.addEventListener('visibilitychange', () => {
      this.#wantSeenAssets();
      if (!document.hidden) void this.#chart.reload();
    });
    listenToKeys({
      list: this.#list,
      chosen: () => this.#chosen.choice.asset,
      moveResolution: (step) => this.#moveResolution(step),
      back: () => this.#travel.back(),
    });
    return this.#prices.run();
  }

  /** Selects longer candles for 1, and shorter candles for -1. */
  #moveResolution(step: -1 | 1): void {
    const { resolution: before } = this.#chosen.choice;
    const place = CHART_INTERVALS.findIndex(({ resolution }) => resolution === before) + step;
    const next = CHART_INTERVALS[place];
    if (next === undefined) return;
    const hadFocus = document.activeElement?.closest('.intervals') != null;
    this.#travel.change({ resolution: next.resolution }, 'key');
    this.#draw();
    if (hadFocus) document.querySelector<HTMLElement>('.intervals [aria-checked=true]')?.focus();
  }

  /** Subscribes the assets that a reader sees. A hidden page shows the chosen asset in its title. */
  #wantSeenAssets(): void {
    this.#prices.want([...this.#list.seen, ...this.#chosenAssets]);
  }

  get #chosenAssets(): readonly TaxonomyAsset[] {
    const compared = document.hidden ? undefined : this.#chosen.compared;
    return [this.#chosen.choice.asset, compared].filter((asset) => asset !== undefined);
  }

  #showAssets(): void {
    if (this.#hasAssets) this.#travel.follow();
    else this.#travel.open();
    this.#hasAssets = true;
    this.#list.refresh();
  }

  /** Reads the nodes. Without an answer the last known nodes stay, because older services lack this route. */
  async #readNodes(): Promise<void> {
    try {
      this.#nodes.take(readNodes(await this.#prices.client.get(REST_PATHS.nodes)), clockText(Date.now()));
    } catch {}
  }

  /** Draws in the next animation frame. A hidden page has no frames, but its title is visible, so it is drawn immediately. */
  #drawSoon(): void {
    if (this.#isDrawing) return;
    if (document.hidden) {
      this.#draw();
      return;
    }
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#draw();
    });
  }

  #draw(): void {
    const nowMs = performance.now();
    const { asset } = this.#chosen.choice;
    const title = asset && this.#chosen.shown(asset, nowMs).title;
    // Each write of the title sends a message to the browser's own process.
    if (title !== undefined && document.title !== title) document.title = title;
    if (document.hidden) return;
    this.#list.read(this.#chosenAssets);
    void this.#ring.follow(nowMs);
    const { pins, root, onSignOut, isPublic } = this.#options;
    const { taxonomy, connection, subscribed, notice } = this.#prices;
    const bar = barView({
      simulation: taxonomy && simulationText(taxonomy),
      pins,
      connection: { facts: connection, subscribed, others: this.#nodes.facts() },
      onSearch: (text) => this.#list.search(text),
      onSignOut,
      isPublic,
    });
    if (notice !== undefined) this.#travel.forgetRemark();
    const { remark, isDetailed } = this.#travel;
    const told = remark === '' ? undefined : ({ tone: 'info', text: remark } as const);
    const detail = asset && detailView(asset, this.#chosen, this.#travel, nowMs);
    const card = asset && this.#card.view(this.#chosen.sealFacts(asset, nowMs));
    render(
      html`${bar}${noticeView(notice ?? told)}<main class=${isDetailed ? 'detailed' : ''}>${this.#list.view(this.#foot)}${detail ?? nothing}</main>
${card ?? nothing}${operatorCard((url, signer) => this.#addOperator(url, signer))}`,
      root,
    );
    if (asset !== undefined && !this.#isPainted) this.#chart.paint();
    this.#isPainted = asset !== undefined;
  }

  get #foot(): View {
    const { text, isLeaderless } = this.#nodes;
    const assets = this.#prices.board.assets.length.toLocaleString('en');
    return html`<p id="nodes" class="soft" role="status" data-tone=${isLeaderless ? 'bad' : 'good'} ?hidden=${text === ''}>${text}</p>
<p class="foot soft"><span id="count">${assets} assets, ${this.#prices.subscribed} subscribed</span><button type="button" class="link" popovertarget="operator">Add an operator</button><button type="button" class="link" popovertarget="keys">Keyboard</button><a href="/docs/">Docs</a></p>`;
  }

  #sealOf(asset: TaxonomyAsset, nowMs: number): View {
    const { board } = this.#prices;
    const seal = board.seal(asset, nowMs);
    const quote = board.quote(asset);
    const age = seal === 'stale' && quote !== undefined ? `, ${ageText(nowMs - quote.madeMs)}` : '';
    return html`${sign('verified')}<span class="seal">${SEAL_TEXTS[seal]}${age}</span>`;
  }

  /** Opens the page that compares this service with another operator. */
  #addOperator(url: string, signer: string): void {
    const own = { name: '', urls: [location.origin], signers: [this.#options.pins.get('stream')?.key ?? ''] };
    location.hash = addOperator('', own, url, signer);
  }
}
