import { html, nothing } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { ref } from 'lit-html/directives/ref.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { TaxonomyAsset } from '../index.js';
import { ALL, groupsOf, listAssets } from './asset_groups.js';
import { assetKey, type Quote } from './board.js';
import { DayHistories, type DayHistory, dayChange, dayRange, sparkPath } from './day_history.js';
import type { View } from './parts.js';
import { placeOf } from './place.js';
import {
  changeSteps,
  changeText,
  doubleOf,
  marketText,
  priceOfDouble,
  shownDecimals,
  shownPrice,
  typeText,
} from './price_text.js';

/** The values that the list shows. */
export interface ListedValues {
  readonly assets: readonly TaxonomyAsset[];
  quote(asset: TaxonomyAsset): Pick<Quote, 'price' | 'status'> | undefined;
  seal(asset: TaxonomyAsset): string;
}

export interface AssetListOptions {
  readonly values: ListedValues;
  /** Draws the last cell of an asset's row. */
  readonly sealOf: (asset: TaxonomyAsset) => View;
  /** Returns the answer of a path of the service, for facts that are not signed. */
  readonly get: (path: string) => Promise<string>;
  /** Returns the service's time in UNIX ms. */
  readonly nowMs: () => number;
  /** Called when other assets become visible. */
  readonly onSeen: () => void;
  /** Draws the page soon. */
  readonly draw: () => void;
}

/** The height of every row in CSS pixels. The style sheet has the same height. */
const ROW_PX = 44;
/** The number of rows that the list draws above the visible rows, and also below them. */
const MARGIN_ROWS = 4;
/** The time without scrolling after which the page subscribes the assets that are now visible. */
const REST_MS = 150;

/** The list on the left: groups, search and the assets. Only the visible assets are drawn. */
export class AssetList {
  readonly #options: AssetListOptions;
  readonly days: DayHistories;
  #grid: HTMLElement | undefined;
  #group = ALL;
  #search = '';
  /** All assets of the last draw, and the result of {@link groupsOf} and {@link listAssets} for them. */
  #all: readonly TaxonomyAsset[] = [];
  #groups: readonly string[] = [];
  #assets: readonly TaxonomyAsset[] = [];
  /** The scroll position and the height of the grid. Reading them after a write would make the browser compute the layout at once. */
  #scrollTop = 0;
  #height = 0;
  #seen: readonly TaxonomyAsset[] = [];
  #restTimer = 0;

  constructor(options: AssetListOptions) {
    this.#options = options;
    this.days = new DayHistories(options.get, options.nowMs);
  }

  /** The visible assets; none while the page is hidden. */
  get seen(): readonly TaxonomyAsset[] {
    return document.hidden ? [] : this.#seen;
  }

  /** Shows the assets that the search finds. */
  search(text: string): void {
    this.#search = text;
    this.#listAgain();
    this.#options.draw();
  }

  #listAgain(): void {
    this.#all = this.#options.values.assets;
    this.#groups = groupsOf(this.#all);
    if (!this.#groups.includes(this.#group)) this.#group = ALL;
    this.#assets = listAssets(this.#all, this.#group, this.#search);
  }

  /** @param foot the line below the list */
  view(chosen: TaxonomyAsset | undefined, foot: View): View {
    if (this.#all !== this.#options.values.assets) this.#listAgain();
    const assets = this.#assets;
    const first = Math.max(Math.floor(this.#scrollTop / ROW_PX) - MARGIN_ROWS, 0);
    const end = this.#height === 0 ? 0 : Math.ceil((this.#scrollTop + this.#height) / ROW_PX) + MARGIN_ROWS;
    const drawn = assets.slice(first, end);
    this.#tellSeen(drawn);
    const { seen } = this;
    void this.days.read(chosen === undefined || seen.includes(chosen) ? seen : [...seen, chosen]);
    const rows = repeat(drawn, assetKey, (asset, i) => this.#row(asset, first + i, chosen));
    return html`<section class="list" aria-label="Assets">
<h1 class="unseen">Live prices</h1>
<div id="groups" role="group" aria-label="Groups of assets">${this.#groups.map((group) => this.#groupButton(group))}</div>
<div class="row columns" id="columns" role="row" aria-rowindex="1"><span role="columnheader">Asset</span><span class="day" role="columnheader" title="the closing prices of 24 hours, and their lowest and highest price; the history is not signed">24 h</span><span class="value" role="columnheader" title="the change in the 24 hours">Price, change</span><span class="market" role="columnheader">Market</span><span role="columnheader">Seal</span></div>
<p id="no-hit" class="soft" role="status">${assets.length > 0 || this.#search.trim() === '' ? '' : 'No asset here has this in its symbol or name.'}</p>
<div id="grid" role="table" aria-label="Assets and prices" aria-owns="columns" aria-rowcount=${assets.length + 1} @scroll=${this.#measure} @keydown=${moveFocus} ${ref(this.#setGrid)}>
<div class="extent" role="rowgroup" .style=${`height: ${assets.length * ROW_PX}px`}>${rows}</div></div>${foot}</section>`;
  }

  #row(asset: TaxonomyAsset, place: number, chosen: TaxonomyAsset | undefined): View {
    const { values, sealOf } = this.#options;
    const { symbol, fullName = '', simulation = '' } = asset;
    const quote = values.quote(asset);
    const price = quote && doubleOf(quote.price);
    const day = this.days.get(asset);
    const change = price === undefined ? undefined : dayChange(day, price);
    // A right-aligned text is written as a whole, because a browser counts a text that grows to the left as a shift of the layout.
    return html`<div class="row" role="row" aria-rowindex=${place + 2} aria-current=${asset === chosen ? 'true' : nothing} data-symbol=${symbol}
 data-seal=${values.seal(asset)} data-market=${quote?.status ?? ''} .style=${`transform: translateY(${place * ROW_PX}px)`}>
<span class="name" role="rowheader"><a class="symbol" href=${placeOf(asset, location.hash)} title=${fullName === '' ? symbol : `${symbol}: ${fullName}`}>${symbol}</a> <small class="type" data-simulation=${simulation}>${typeText(asset)}</small> <small class="full">${fullName}</small></span>
<span class="day" role="cell">${guard([day, price], () => dayView(day, price))}</span>
<span class="value" role="cell"><span class="price" .textContent=${quote === undefined ? '—' : shownPrice(quote.price, shownDecimals(quote.price))}></span><span class="change" data-direction=${change === undefined ? '' : Math.sign(changeSteps(change))} .textContent=${change === undefined ? '' : changeText(change)}></span></span>
<span class="market" role="cell">${marketText(asset.calendar, quote?.status)}</span>
<span role="cell">${sealOf(asset)}</span></div>`;
  }

  #groupButton(group: string): View {
    const choose = () => {
      this.#group = group;
      this.#listAgain();
      this.#options.draw();
    };
    return html`<button type="button" data-group=${group} aria-pressed=${group === this.#group} @click=${choose}>${group[0]!.toUpperCase() + group.slice(1)}</button>`;
  }

  readonly #setGrid = (grid?: Element): void => {
    if (grid === undefined || grid === this.#grid) return;
    this.#grid = grid as HTMLElement;
    new ResizeObserver(this.#measure).observe(grid);
  };

  readonly #measure = (): void => {
    const { scrollTop, clientHeight } = this.#grid!;
    this.#scrollTop = scrollTop;
    this.#height = clientHeight;
    this.#options.draw();
  };

  #tellSeen(seen: readonly TaxonomyAsset[]): void {
    if (seen.length === this.#seen.length && seen.every((asset, i) => asset === this.#seen[i])) return;
    this.#seen = seen;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(this.#options.onSeen, REST_MS);
  }
}

/** Draws the sparkline and the range of the last 24 hours, which end at the newest verified price. */
function dayView(day: DayHistory | undefined, price: number | undefined): View {
  return html`<svg class="spark" viewBox="0 -1 100 22" preserveAspectRatio="none" aria-hidden="true"><path d=${day === undefined ? '' : sparkPath(day, price)}></path></svg><small class="range number" .textContent=${day === undefined ? '' : rangeText(dayRange(day, price))}></small>`;
}

/** Writes a range. It has two decimals less than a price, because it must fit under a sparkline: `94,902 – 95,310`. */
function rangeText(range: readonly [low: number, high: number]): string {
  const prices = range.map(priceOfDouble);
  const decimals = Math.max(shownDecimals(prices[0]!) - 2, 0);
  return prices.map((price) => shownPrice(price, decimals)).join(' – ');
}

/** Moves the focus to the row below or above. */
function moveFocus(event: KeyboardEvent): void {
  const row = (event.target as Element).closest('.row');
  const next = { ArrowDown: row?.nextElementSibling, ArrowUp: row?.previousElementSibling }[event.key];
  if (next == null) return;
  next.querySelector('a')!.focus();
  event.preventDefault();
}
