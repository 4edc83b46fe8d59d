import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { AssetRow, type RowData } from './asset_row.js';
import { assetKey } from './board.js';
import { oncePerFrame, setAttribute } from './elements.js';

/** The height of every row in CSS pixels. The style sheet has the same height. */
const ROW_PX = 44;
/** The number of rows with column headers. Screen readers count these rows too. */
const HEAD_ROWS = 1;
/** The number of rows that the table draws above the visible rows, and also below them. */
const MARGIN_ROWS = 4;
/** The time without scrolling after which the page subscribes the assets that are now visible. */
const REST_MS = 150;

/** The cause of a selection: the reader's click or key, or the page itself. */
export type ChosenBy = 'click' | 'key' | 'page';

export interface AssetTableOptions extends RowData {
  readonly grid: HTMLElement;
  readonly onStar: (asset: TaxonomyAsset) => void;
  readonly onChoose: (asset: TaxonomyAsset, by: ChosenBy) => void;
  /** Called when other assets become visible. */
  readonly onSeen: (assets: readonly TaxonomyAsset[]) => void;
}

/** A list of assets that draws only the visible assets, in rows that it reuses. */
export class AssetTable {
  readonly #options: AssetTableOptions;
  readonly #extent: HTMLElement;
  readonly #template: HTMLTemplateElement;
  readonly #rows: AssetRow[] = [];
  #assets: readonly TaxonomyAsset[] = [];
  #chosen: TaxonomyAsset | undefined;
  /** The row of the selected asset; -1 while it is not in the list. */
  #place = -1;
  /** The scroll position and the height of the grid. Reading them after a write would make the browser compute the layout at once. */
  #scrollTop = 0;
  #height = 0;
  #seenText = '';
  #restTimer = 0;

  constructor(options: AssetTableOptions) {
    this.#options = options;
    const { grid } = options;
    this.#extent = grid.querySelector<HTMLElement>('.extent')!;
    this.#template = grid.querySelector('template')!;
    grid.addEventListener('scroll', () => this.#measure(), { passive: true });
    grid.addEventListener('click', ({ target }) => {
      const root = (target as Element).closest('[role=row]');
      const asset = this.#rows.find((one) => one.root === root)?.asset;
      if (asset === undefined) return;
      if ((target as Element).closest('.star') === null) this.choose(asset, 'click');
      else options.onStar(asset);
    });
    new ResizeObserver(() => this.#measure()).observe(grid);
  }

  /** Shows other assets. The chosen asset stays chosen, and its row is marked if the asset is in the new list. */
  show(assets: readonly TaxonomyAsset[]): void {
    this.#assets = assets;
    const chosen = this.#chosen && assetKey(this.#chosen);
    this.#place = assets.findIndex((asset) => assetKey(asset) === chosen);
    this.#extent.style.height = `${assets.length * ROW_PX}px`;
    this.#options.grid.setAttribute('aria-rowcount', String(assets.length + HEAD_ROWS));
    this.#drawSoon();
  }

  choose(asset: TaxonomyAsset, by: ChosenBy): void {
    this.#chosen = asset;
    this.#place = this.#assets.indexOf(asset);
    this.#drawSoon();
    this.#options.onChoose(asset, by);
  }

  /**
   * Chooses the row at a distance below the chosen row, or above it for a negative distance, and scrolls there. If the chosen
   * asset is not in the list, counting starts above the first row.
   */
  move(rows: number): void {
    const place = Math.min(Math.max(this.#place + rows, 0), this.#assets.length - 1);
    const asset = this.#assets[place];
    if (asset === undefined) return;
    const { grid } = this.#options;
    const top = place * ROW_PX;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + ROW_PX > grid.scrollTop + grid.clientHeight)
      grid.scrollTop = top + ROW_PX - grid.clientHeight;
    this.choose(asset, 'key');
  }

  /** Returns the number of rows that fit on the screen. */
  get pageRows(): number {
    return Math.max(Math.floor(this.#options.grid.clientHeight / ROW_PX), 1);
  }

  readonly #drawSoon = oncePerFrame(() => this.draw());

  #measure(): void {
    const { scrollTop, clientHeight } = this.#options.grid;
    this.#scrollTop = scrollTop;
    this.#height = clientHeight;
    this.#drawSoon();
  }

  /** Draws the visible rows. */
  draw(): void {
    const { grid } = this.#options;
    const firstSeen = Math.floor(this.#scrollTop / ROW_PX);
    const endSeen = Math.ceil((this.#scrollTop + this.#height) / ROW_PX);
    const first = Math.max(firstSeen - MARGIN_ROWS, 0);
    const end = Math.min(endSeen + MARGIN_ROWS, this.#assets.length);
    while (this.#rows.length < end - first) this.#rows.push(this.#createRow());
    const nowMs = performance.now();
    // A position in the list always uses the same row element, so scrolling by one row changes only one element.
    const count = Math.max(this.#rows.length, 1);
    const used = new Set<AssetRow>();
    if (this.#place < first || this.#place >= end) grid.removeAttribute('aria-activedescendant');
    for (let place = first; place < end; place++) {
      const row = this.#rows[place % count]!;
      used.add(row);
      this.#fill(row, place, nowMs);
    }
    for (const row of this.#rows) if (!used.has(row)) row.hide();
    this.#tellSeen(this.#assets.slice(first, end));
  }

  #fill(row: AssetRow, place: number, nowMs: number): void {
    const { root } = row;
    row.place(place * ROW_PX);
    const isChosen = place === this.#place;
    if (isChosen) setAttribute(this.#options.grid, 'aria-activedescendant', root.id);
    setAttribute(root, 'aria-selected', String(isChosen));
    row.show(this.#assets[place]!, place + HEAD_ROWS + 1, nowMs);
  }

  #createRow(): AssetRow {
    const row = new AssetRow(this.#template, `row-${this.#rows.length}`, this.#options);
    this.#extent.append(row.root);
    return row;
  }

  #tellSeen(seen: readonly TaxonomyAsset[]): void {
    const text = seen.map((asset) => `${asset.id} ${assetKey(asset)}`).join();
    if (text === this.#seenText) return;
    this.#seenText = text;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#options.onSeen(seen), REST_MS);
  }
}
