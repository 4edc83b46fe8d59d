import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { ALL, FAVOURITES, groupsOf, listAssets, type SortOrder } from './asset_order.js';
import { AssetTable, type ChosenBy } from './asset_table.js';
import type { BasePrices } from './base_prices.js';
import type { Board } from './board.js';
import { DayHistories } from './day_history.js';
import { byId, element, setText } from './elements.js';
import { Favourites } from './favourites.js';
import { originStorage } from './storage.js';

export interface AssetListOptions {
  readonly board: Board;
  readonly bases: BasePrices;
  /** Returns the answer of a path of the service. */
  readonly get: (path: string) => Promise<string>;
  /** Returns the service's time in UNIX ms. */
  readonly nowMs: () => number;
  /** Returns the number of assets that the service sends. */
  readonly subscribed: () => number;
  readonly onChoose: (asset: TaxonomyAsset, by: ChosenBy) => void;
  /** Called when other assets become visible. */
  readonly onSeen: () => void;
}

/** The list on the left: the table of assets, its groups, its order, the search and the favourites. */
export class AssetList {
  readonly #options: AssetListOptions;
  readonly table: AssetTable;
  readonly #days: DayHistories;
  readonly #favourites = new Favourites(originStorage);
  readonly #search = byId<HTMLInputElement>('search');
  readonly #order = byId<HTMLSelectElement>('order');
  #group = ALL;
  #seen: readonly TaxonomyAsset[] = [];

  constructor(options: AssetListOptions) {
    this.#options = options;
    const { board, bases, get, nowMs } = options;
    this.#days = new DayHistories({ get, nowMs });
    this.table = new AssetTable({
      grid: byId('grid'),
      board,
      days: this.#days,
      favourites: this.#favourites,
      changeOf: (asset, price) => bases.change(asset, price),
      onChoose: options.onChoose,
      onStar: (asset) => this.star(asset),
      onSeen: (seen) => {
        this.#seen = seen;
        options.onSeen();
      },
    });
    this.#search.addEventListener('input', () => this.show());
    this.#order.addEventListener('change', () => void this.#sort());
    byId('sort-again').addEventListener('click', () => void this.#sort());
  }

  /** The visible assets; none while the page is hidden. */
  get seen(): readonly TaxonomyAsset[] {
    return document.hidden ? [] : this.#seen;
  }

  /** Shows the groups of the new assets. If the selected group no longer exists, selects all assets. */
  showGroups(): void {
    const groups = groupsOf(this.#options.board.assets);
    if (!groups.includes(this.#group)) this.#group = ALL;
    const buttons = groups.map((group) => {
      const name = group === FAVOURITES ? '★ Favourites' : group[0]!.toUpperCase() + group.slice(1);
      const button = element('button', { type: 'button', 'data-group': group }, name);
      button.addEventListener('click', () => this.#showGroup(group));
      return button;
    });
    byId('groups').replaceChildren(...buttons);
    this.#showGroup(this.#group);
  }

  /** Marks an asset as favourite, or removes the mark. */
  star(asset: TaxonomyAsset): void {
    this.#favourites.toggle(asset);
    // The row of an asset that is no longer a favourite stays until the reader returns to the group.
    this.table.draw();
  }

  /** Shows the assets of the group that match the search, in the selected order. */
  show(): void {
    const { board } = this.#options;
    const choice = {
      group: this.#group,
      order: this.#order.value as SortOrder,
      search: this.#search.value,
    };
    const found = listAssets(board.assets, choice, {
      isFavourite: (asset) => this.#favourites.has(asset),
      changeOf: (asset) => this.#changeOf(asset),
    });
    this.table.show(found);
    byId('no-hit').textContent = found.length > 0 ? '' : this.#emptyText;
    this.drawCount();
  }

  draw(): void {
    void this.#days.read(this.seen);
    if (!document.hidden) this.table.draw();
    this.drawCount();
  }

  drawCount(): void {
    const { board, subscribed } = this.#options;
    const assets = board.assets.length.toLocaleString('en');
    setText(byId('count'), `${assets} assets, ${subscribed()} subscribed`);
  }

  get #emptyText(): string {
    if (this.#search.value.trim() !== '') return 'No asset here has this in its symbol or name.';
    return this.#group === FAVOURITES
      ? 'There are no favourites yet. The star of a row or the key F makes one.'
      : '';
  }

  #showGroup(group: string): void {
    this.#group = group;
    for (const button of byId('groups').children)
      button.setAttribute('aria-pressed', String((button as HTMLElement).dataset['group'] === group));
    this.show();
  }

  /**
   * Sorts the list. The order then stays while prices change, so that no row moves under the reader's pointer. The changes of
   * invisible assets are read first.
   */
  async #sort(): Promise<void> {
    const byChange = this.#order.value === 'rising' || this.#order.value === 'falling';
    byId('sort-again').hidden = !byChange;
    this.show();
    if (!byChange) return;
    await this.#options.bases.refresh(this.#options.board.assets);
    this.show();
  }

  /** Returns the change of the verified price, or of the last unsigned price if there is no verified price. */
  #changeOf(asset: TaxonomyAsset): number | undefined {
    const { board, bases } = this.#options;
    const quote = board.quote(asset);
    return quote === undefined ? bases.lastChange(asset) : bases.change(asset, quote.price);
  }
}
