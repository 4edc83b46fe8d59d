import { html, nothing } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { ref } from 'lit-html/directives/ref.js';
import type { TaxonomyAsset } from '../index.js';
import { ALL, FAVOURITES, Favourites, groupsOf, listAssets, type SortOrder } from './asset_order.js';
import { BasePrices } from './base_prices.js';
import { isSameAsset, type Quote } from './board.js';
import { DayHistories, type DayHistory, sparkPath } from './day_history.js';
import { flashedPrice, sign, type View } from './parts.js';
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
import { originStorage } from './storage.js';

/** The cause of a selection. */
export type ChosenBy = 'click' | 'key';

/** The values that the list shows. */
export interface ListedValues {
  readonly assets: readonly TaxonomyAsset[];
  quote(asset: TaxonomyAsset): Quote | undefined;
  seal(asset: TaxonomyAsset, nowMs: number): string;
}

export interface AssetListOptions {
  readonly values: ListedValues;
  /** Draws the last cell of an asset's row. */
  readonly sealOf: (asset: TaxonomyAsset, nowMs: number) => View;
  /** Returns the answer of a path of the service, for facts that are not signed. */
  readonly get: (path: string) => Promise<string>;
  /** Returns the service's time in UNIX ms. */
  readonly nowMs: () => number;
  readonly onChoose: (asset: TaxonomyAsset, by: ChosenBy) => void;
  /** Called after a click on the last cell of a row, whose asset is chosen then. */
  readonly onSeal: () => void;
  /** Called when other assets become visible. */
  readonly onSeen: () => void;
  /** Draws the page soon. */
  readonly draw: () => void;
}

/** The height of every row in CSS pixels. The style sheet has the same height. */
const ROW_PX = 44;
/** The number of rows with column headers. Screen readers count these rows too. */
const HEAD_ROWS = 1;
/** The number of rows that the list draws above the visible rows, and also below them. */
const MARGIN_ROWS = 4;
/** The time without scrolling after which the page subscribes the assets that are now visible. */
const REST_MS = 150;
const ORDERS: Readonly<Record<SortOrder, string>> = {
  catalogue: 'Catalogue order',
  symbol: 'Symbol A–Z',
  rising: 'Risen most',
  falling: 'Fallen most',
};

// A right-aligned text is written as a whole, because a browser counts a text that grows to the left as a shift of the layout.

/** The list on the left: groups, order, favourites, and the assets. Only the visible assets are drawn, in rows that are used again. */
export class AssetList {
  readonly #options: AssetListOptions;
  readonly #favourites = new Favourites(originStorage);
  readonly bases: BasePrices;
  readonly #days: DayHistories;
  #grid: HTMLElement | undefined;
  #group = ALL;
  #order: SortOrder = 'catalogue';
  #search = '';
  #assets: readonly TaxonomyAsset[] = [];
  #chosen: TaxonomyAsset | undefined;
  /** The scroll position and the height of the grid. Reading them after a write would make the browser compute the layout at once. */
  #scrollTop = 0;
  #height = 0;
  /** The number of row elements, which never falls. */
  #slots = 0;
  #seen: readonly TaxonomyAsset[] = [];
  #restTimer = 0;

  constructor(options: AssetListOptions) {
    this.#options = options;
    this.bases = new BasePrices(options.get, options.nowMs);
    this.#days = new DayHistories(options.get, options.nowMs);
  }

  /** The visible assets; none while the page is hidden. */
  get seen(): readonly TaxonomyAsset[] {
    return document.hidden ? [] : this.#seen;
  }

  /** Returns the number of rows that fit on the screen. */
  get pageRows(): number {
    return Math.max(Math.floor(this.#height / ROW_PX), 1);
  }

  /** Shows the assets that the search finds. */
  search(text: string): void {
    this.#search = text;
    this.refresh();
  }

  /** Lists the assets of the group that match the search, in the selected order. The chosen asset stays chosen. */
  refresh(): void {
    const { values } = this.#options;
    if (!groupsOf(values.assets).includes(this.#group)) this.#group = ALL;
    const choice = { group: this.#group, order: this.#order, search: this.#search };
    this.#assets = listAssets(values.assets, choice, {
      isFavourite: (asset) => this.#favourites.has(asset),
      changeOf: (asset) => {
        const quote = values.quote(asset);
        // The last price came without a signature. It serves for the order alone.
        return quote === undefined ? this.bases.lastChange(asset) : this.bases.change(asset, quote.price);
      },
    });
    this.#options.draw();
  }

  /** Reads the facts of the visible assets that are not signed. @param others further assets, whose change is shown elsewhere */
  read(others: readonly TaxonomyAsset[]): void {
    void this.bases.read([...this.seen, ...others]);
    void this.#days.read(this.seen);
  }

  /** Marks the row of the chosen asset. @param by the cause; absent if the page itself has chosen the asset */
  mark(asset: TaxonomyAsset, by?: ChosenBy): void {
    this.#chosen = asset;
    if (by !== undefined) this.#options.onChoose(asset, by);
    this.#options.draw();
  }

  /**
   * Chooses the row at a distance below the chosen row, or above it for a negative distance, and scrolls there. If the chosen
   * asset is not in the list, counting starts above the first row.
   */
  move(rows: number): void {
    const place = Math.min(Math.max(this.#place + rows, 0), this.#assets.length - 1);
    const asset = this.#assets[place];
    if (asset === undefined || this.#grid === undefined) return;
    const { scrollTop, clientHeight } = this.#grid;
    const top = place * ROW_PX;
    if (top < scrollTop) this.#grid.scrollTop = top;
    else if (top + ROW_PX > scrollTop + clientHeight) this.#grid.scrollTop = top + ROW_PX - clientHeight;
    this.mark(asset, 'key');
  }

  /** Marks an asset as favourite, or removes the mark. The row of a former favourite stays until the reader returns to the group. */
  star(asset: TaxonomyAsset | undefined): void {
    if (asset !== undefined) this.#favourites.toggle(asset);
    this.#options.draw();
  }

  /** @param foot the line below the list */
  view(foot: View): View {
    const nowMs = performance.now();
    const byChange = this.#order === 'rising' || this.#order === 'falling';
    return html`<section class="list" aria-label="Assets">
<h1 class="unseen">Live prices</h1>
<div class="filters"><div id="groups" role="group" aria-label="Groups of assets">${groupsOf(this.#options.values.assets).map((group) => this.#groupButton(group))}</div>
<label><span class="unseen">Order</span><select id="order" title="The order stays while prices change" .value=${this.#order} @change=${this.#sort}>${Object.entries(ORDERS).map(([order, name]) => html`<option value=${order}>${name}</option>`)}</select></label>
<button type="button" id="sort-again" aria-label="Sort again" title="Sort again by the present changes" ?hidden=${!byChange} @click=${this.#sort}>↻</button></div>
<div class="row columns" id="columns" role="row" aria-rowindex="1"><span class="starred" role="columnheader"><span class="unseen">Favourite</span></span><span class="name" role="columnheader">Asset</span><span class="day" role="columnheader" title="the closing prices of 24 hours, and their lowest and highest price; the history is not signed">24 h</span><span class="value" role="columnheader" title="the change since the last close before today, in UTC">Price, change</span><span class="market" role="columnheader">Market</span><span class="sealed" role="columnheader">Seal</span></div>
<p id="no-hit" class="soft" role="status">${this.#assets.length > 0 ? '' : this.#emptyText}</p>
<div id="grid" role="grid" tabindex="0" aria-label="Assets and prices" aria-owns="columns" aria-rowcount=${this.#assets.length + HEAD_ROWS}
 aria-activedescendant=${this.#activeRow ?? nothing} @scroll=${this.#measure} @click=${this.#click} ${ref(this.#setGrid)}>
<div class="extent" role="rowgroup" .style=${`height: ${this.#assets.length * ROW_PX}px`}>${this.#rows(nowMs)}</div></div>${foot}</section>`;
  }

  /** The row of the chosen asset; -1 while it is not in the list. */
  get #place(): number {
    return this.#assets.findIndex((asset) => isSameAsset(asset, this.#chosen));
  }

  get #activeRow(): string | undefined {
    const [place, { first, end }] = [this.#place, this.#drawn];
    return place >= first && place < end ? `row-${place % this.#slots}` : undefined;
  }

  /** The rows that are drawn, from `first` to before `end`. */
  get #drawn(): { readonly first: number; readonly end: number } {
    const first = Math.max(Math.floor(this.#scrollTop / ROW_PX) - MARGIN_ROWS, 0);
    const last = Math.ceil((this.#scrollTop + this.#height) / ROW_PX) + MARGIN_ROWS;
    const end = this.#height === 0 ? first : Math.min(last, this.#assets.length);
    this.#slots = Math.max(this.#slots, end - first);
    return { first, end };
  }

  /** Draws the rows. A position in the list always uses the same element, so scrolling by one row changes one element. */
  #rows(nowMs: number): View[] {
    const { first, end } = this.#drawn;
    this.#tellSeen(this.#assets.slice(first, end));
    const chosen = this.#place;
    return Array.from({ length: this.#slots }, (_, slot) => {
      const place = first + ((((slot - first) % this.#slots) + this.#slots) % this.#slots);
      const asset = place < end ? this.#assets[place] : undefined;
      if (asset === undefined) return html`<div role="row" hidden></div>`;
      return this.#row(asset, slot, place, place === chosen, nowMs);
    });
  }

  #row(asset: TaxonomyAsset, slot: number, place: number, isChosen: boolean, nowMs: number): View {
    const { values, sealOf } = this.#options;
    const { symbol, fullName = '' } = asset;
    const quote = values.quote(asset);
    const change = quote && this.bases.change(asset, quote.price);
    const shown = quote && shownPrice(quote.price, shownDecimals(quote.price));
    const before = quote === undefined ? '' : shownPrice(quote.before, shownDecimals(quote.price));
    return html`<div class="row" role="row" id="row-${slot}" aria-rowindex=${place + HEAD_ROWS + 1} aria-selected=${isChosen} data-place=${place} data-symbol=${symbol}
 data-seal=${values.seal(asset, nowMs)} data-market=${quote?.marketStatus ?? ''} .style=${`transform: translateY(${place * ROW_PX}px)`}>
<span class="starred" role="gridcell"><button type="button" class="star" tabindex="-1" aria-pressed=${this.#favourites.has(asset)} aria-label="Favourite: ${symbol}">${sign('star')}</button></span>
<span class="name" role="gridcell"><span class="symbol" title=${fullName === '' ? symbol : `${symbol}: ${fullName}`} .textContent=${symbol}></span> <small class="type" data-simulation=${asset.simulation ?? ''} .textContent=${typeText(asset)}></small> <small class="full">${fullName}</small></span>
<span class="day" role="gridcell">${this.#dayOf(asset, quote)}</span>
<span class="value" role="gridcell"><span class="price">${shown === undefined ? '—' : flashedPrice(shown, before, quote, nowMs)}</span><span class="change" data-direction=${change === undefined ? '' : Math.sign(changeSteps(change))} .textContent=${change === undefined ? '' : changeText(change)}></span></span>
<span class="market" role="gridcell">${marketText(asset.calendar, quote?.marketStatus)}</span>
<span class="sealed" role="gridcell">${sealOf(asset, nowMs)}</span></div>`;
  }

  /** Draws the sparkline and the range of the last 24 hours, which end at the newest verified price. */
  #dayOf(asset: TaxonomyAsset, quote: Quote | undefined): unknown {
    const price = quote && doubleOf(quote.price);
    const day = this.#days.follow(asset, price);
    return guard([day, price], () => {
      const path = day === undefined ? '' : sparkPath(day, price);
      return html`<svg class="spark" viewBox="0 -1 100 22" preserveAspectRatio="none" aria-hidden="true"><path d=${path}></path></svg><small class="range number" .textContent=${day === undefined ? '' : rangeText(day)}></small>`;
    });
  }

  #groupButton(group: string): View {
    const name = group === FAVOURITES ? '★ Favourites' : group[0]!.toUpperCase() + group.slice(1);
    const choose = () => {
      this.#group = group;
      this.refresh();
    };
    return html`<button type="button" data-group=${group} aria-pressed=${group === this.#group} @click=${choose}>${name}</button>`;
  }

  get #emptyText(): string {
    if (this.#search.trim() !== '') return 'No asset here has this in its symbol or name.';
    return this.#group === FAVOURITES
      ? 'There are no favourites yet. The star of a row or the key F makes one.'
      : '';
  }

  /**
   * Sorts the list. The order then stays while prices change, so that no row moves under the reader's pointer. The changes of
   * invisible assets are read first.
   */
  readonly #sort = async (): Promise<void> => {
    this.#order = document.querySelector<HTMLSelectElement>('#order')!.value as SortOrder;
    this.refresh();
    if (this.#order === 'catalogue' || this.#order === 'symbol') return;
    await this.bases.refresh(this.#options.values.assets);
    this.refresh();
  };

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

  readonly #click = ({ target }: Event): void => {
    const row = (target as Element).closest<HTMLElement>('[data-place]');
    const asset = this.#assets[Number(row?.dataset['place'])];
    if (asset === undefined) return;
    const cell = (target as Element).closest('.star, .sealed')?.classList[0];
    if (cell === 'star') this.star(asset);
    else this.mark(asset, 'click');
    if (cell === 'sealed') this.#options.onSeal();
  };

  #tellSeen(seen: readonly TaxonomyAsset[]): void {
    const isSame = (one: TaxonomyAsset, i: number) =>
      one.id === this.#seen[i]!.id && isSameAsset(one, this.#seen[i]);
    if (seen.length === this.#seen.length && seen.every(isSame)) return;
    this.#seen = seen;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(this.#options.onSeen, REST_MS);
  }
}

/** Writes a range. It has two decimals less than a price, because it must fit under a sparkline: `94,902 – 95,310`. */
function rangeText({ low, high }: DayHistory): string {
  const decimals = Math.max(shownDecimals(priceOfDouble(low)) - 2, 0);
  return [low, high].map((price) => shownPrice(priceOfDouble(price), decimals)).join(' – ');
}
