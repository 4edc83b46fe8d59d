import { html, nothing, render } from 'lit-html';
import { REST_PATHS } from '../../wire/paths.js';
import type { TaxonomyAsset } from '../index.js';
import { detailView } from './asset_detail.js';
import { AssetList } from './asset_list.js';
import { barView, noticeView } from './bar_view.js';
import { SEAL_TEXTS } from './board.js';
import { ChosenAsset } from './chosen_asset.js';
import { nodesText } from './connection_state.js';
import { dayChange } from './day_history.js';
import { LivePrices } from './live_prices.js';
import { LogRing } from './log_ring.js';
import { sign, type View } from './parts.js';
import type { PinnedSigners } from './pins.js';
import { placeOf } from './place.js';
import { PriceChart } from './price_chart.js';
import { ageText, doubleOf, simulationText } from './price_text.js';
import { ProofReader } from './proof_reader.js';
import { operatorCard } from './quorum_view.js';
import { SealCard } from './seal_card.js';

/** The interval at which ages and states are drawn again while no frame comes. */
const DRAW_MS = 500;
/** The interval at which the nodes of a cluster are requested. */
const NODES_MS = 3_000;

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
  readonly #card: SealCard;
  readonly #chosen: ChosenAsset;
  /** The remark about the link, until the reader goes to another place. */
  #remark: string;
  /** The line about the nodes of a cluster; empty for a process without a cluster. */
  #nodes = '';
  #isDrawing = false;
  #isPainted = false;

  constructor(options: LivePageOptions) {
    this.#options = options;
    this.#remark = options.remark;
    const { token, worker, pins } = options;
    const draw = () => this.#drawSoon();
    this.#prices = new LivePrices({
      token,
      worker,
      pins,
      onAssets: () => this.#follow(),
      onUp: () => {
        void this.#readNodes();
        void this.#chosen.parts.chart.reload();
      },
      onChange: draw,
      // The chart draws in the next animation frame itself, so it takes a value before the page draws in that frame.
      onValue: (quote) => this.#chosen.takeQuote(quote),
    });
    const { client, board, connection } = this.#prices;
    const serviceMs = () => Date.now() - connection.aheadMs;
    this.#list = new AssetList({
      values: board,
      sealOf: (asset) => this.#sealOf(asset),
      get: (path) => client.get(path),
      nowMs: serviceMs,
      onSeen: () => this.#wantSeenAssets(),
      draw,
    });
    const proof = new ProofReader({
      client,
      worker,
      trustOf: ({ signatureType }) => ({
        signer: pins.get(signatureType)?.key,
        oracleId: this.#prices.taxonomy?.oracleId,
      }),
      onRead: draw,
    });
    this.#card = new SealCard(
      (request) => proof.verify(request),
      () => this.#draw(),
    );
    this.#chosen = new ChosenAsset({
      prices: this.#prices,
      pins,
      chart: new PriceChart(client, draw),
      proof,
      ring: new LogRing(client, draw),
      serviceMs,
    });
  }

  /** Shows prices while the service accepts the token. @throws RefusedError when the service refuses the token */
  run(): Promise<never> {
    this.#draw();
    setInterval(() => this.#drawSoon(), DRAW_MS);
    setInterval(() => this.#nodes !== '' && !document.hidden && void this.#readNodes(), NODES_MS);
    document.addEventListener('visibilitychange', () => {
      this.#wantSeenAssets();
      if (!document.hidden) void this.#chosen.parts.chart.reload();
    });
    addEventListener('hashchange', () => {
      this.#remark = '';
      this.#follow();
    });
    return this.#prices.run();
  }

  /** Shows the place of the address. */
  #follow(): void {
    if (this.#chosen.follow()) this.#card.reset();
    this.#wantSeenAssets();
    this.#drawSoon();
  }

  /** Subscribes the assets that a reader sees. A hidden page shows the chosen asset in its title. */
  #wantSeenAssets(): void {
    const { asset, compared } = this.#chosen;
    const shown = [asset, document.hidden ? undefined : compared].filter((one) => one !== undefined);
    this.#prices.want([...this.#list.seen, ...shown]);
  }

  /** Reads the nodes. Without an answer the last line stays, because older services lack this route. */
  async #readNodes(): Promise<void> {
    try {
      this.#nodes = nodesText(await this.#prices.client.get(REST_PATHS.nodes));
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
    const { asset, parts, place } = this.#chosen;
    const title = asset && this.#chosen.shown(asset).title;
    // Each write of the title sends a message to the browser's own process.
    if (title !== undefined && document.title !== title) document.title = title;
    if (document.hidden) return;
    void parts.ring.follow(parts.proof.proven, parts.serviceMs());
    const { pins, root, onSignOut, isPublic } = this.#options;
    const { taxonomy, connection, subscribed, notice } = this.#prices;
    const bar = barView({
      simulation: taxonomy && simulationText(taxonomy),
      pins,
      connection: { log: connection, subscribed },
      onSearch: (text) => this.#list.search(text),
      onSignOut,
      isPublic,
    });
    // The reader has seen something more important than the remark.
    if (notice !== undefined) this.#remark = '';
    const remark = this.#remark || this.#chosen.fault;
    const told = remark === '' ? undefined : ({ tone: 'info', text: remark } as const);
    render(
      html`${bar}${noticeView(notice ?? told)}<main class=${place.asset === undefined ? '' : 'detailed'}>${this.#list.view(asset, this.#foot)}${asset === undefined ? nothing : detailView(asset, this.#chosen, this.#changeOf(asset))}</main>
<div id="seal" class="card" popover role="dialog" aria-label="The seal explained">${asset === undefined ? nothing : this.#card.view(this.#chosen.sealFacts(asset))}</div>
${operatorCard([location.origin], [pins.get('stream')?.key ?? ''])}`,
      root,
    );
    if (asset !== undefined && !this.#isPainted) parts.chart.paint();
    this.#isPainted = asset !== undefined;
  }

  #changeOf(asset: TaxonomyAsset): number | undefined {
    const { price } = this.#chosen.shown(asset);
    return price === undefined || this.#chosen.atNs !== undefined
      ? undefined
      : dayChange(this.#list.days.get(asset), doubleOf(price));
  }

  get #foot(): View {
    const assets = this.#prices.board.assets.length.toLocaleString('en');
    return html`<p id="nodes" class="soft" role="status" ?hidden=${this.#nodes === ''}>${this.#nodes}</p>
<p class="foot soft"><span id="count">${assets} assets, ${this.#prices.subscribed} subscribed</span><button type="button" class="link" popovertarget="operator">Add an operator</button><a href="/docs/">Docs</a></p>`;
  }

  /** Draws the seal of a row, which chooses the asset and opens its card. */
  #sealOf(asset: TaxonomyAsset): View {
    const { board } = this.#prices;
    const seal = board.seal(asset);
    const age = seal === 'stale' ? `, ${ageText(board.quote(asset)!.ageMs)}` : '';
    const choose = () => {
      location.hash = placeOf(asset, location.hash);
    };
    return html`<button type="button" class="sealed" tabindex="-1" popovertarget="seal" @click=${choose}>${sign('verified')}<span class="seal">${SEAL_TEXTS[seal]}${age}</span></button>`;
  }
}
