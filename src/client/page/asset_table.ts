import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { assetKey, type Board, type Quote, type Seal } from './board.js';
import { marketText } from './market_text.js';
import { ageText, changeSteps, changeText, keptLength, shownDecimals, shownPrice } from './price_text.js';
import { typeText } from './simulation_text.js';

/** The height of every row in CSS pixels. The style sheet has the same height. */
const ROW_PX = 44;
/** Rows that are drawn above and below the visible ones. */
const MARGIN_ROWS = 4;
/** The time without scrolling after which the page subscribes the assets that are now visible. */
const REST_MS = 150;

/** The cause of a choice: the reader's click or key, or the page itself. */
export type ChosenBy = 'click' | 'key' | 'page';

export interface AssetTableOptions {
  readonly grid: HTMLElement;
  readonly board: Board;
  /** Returns the change of a price against its base, or `undefined` if the base is unknown. */
  readonly changeOf: (asset: TaxonomyAsset, price: bigint) => number | undefined;
  readonly onChoose: (asset: TaxonomyAsset, by: ChosenBy) => void;
  /** Called when other assets become visible. */
  readonly onSeen: (assets: readonly TaxonomyAsset[]) => void;
}

/** The cells of a drawn row. A row shows another asset after the list is scrolled. */
interface Row {
  readonly root: HTMLElement;
  readonly symbol: HTMLElement;
  readonly type: HTMLElement;
  readonly price: HTMLElement;
  readonly change: HTMLElement;
  readonly age: HTMLElement;
  readonly market: HTMLElement;
  readonly seal: HTMLElement;
  asset: TaxonomyAsset | undefined;
  shownNs: bigint;
}

/** A list of assets that draws only the visible assets, in rows that it reuses. */
export class AssetTable {
  readonly #options: AssetTableOptions;
  readonly #extent: HTMLElement;
  readonly #template: HTMLTemplateElement;
  readonly #rows: Row[] = [];
  #assets: readonly TaxonomyAsset[] = [];
  #chosen: TaxonomyAsset | undefined;
  /** The row of the chosen asset; -1 while it is not shown. */
  #place = -1;
  #seenText = '';
  #restTimer = 0;
  #isDrawing = false;

  constructor(options: AssetTableOptions) {
    this.#options = options;
    const { grid } = options;
    this.#extent = grid.querySelector<HTMLElement>('.extent')!;
    this.#template = grid.querySelector('template')!;
    grid.addEventListener('scroll', () => this.draw(), { passive: true });
    grid.addEventListener('click', ({ target }) => {
      const root = (target as Element).closest('[role=row]');
      const row = this.#rows.find((one) => one.root === root);
      if (row?.asset !== undefined) this.choose(row.asset, 'click');
    });
    new ResizeObserver(() => this.draw()).observe(grid);
  }

  /** Shows other assets. The chosen asset stays chosen, and its row is marked if the asset is in the new list. */
  show(assets: readonly TaxonomyAsset[]): void {
    this.#assets = assets;
    const chosen = this.#chosen && assetKey(this.#chosen);
    this.#place = assets.findIndex((asset) => assetKey(asset) === chosen);
    this.#extent.style.height = `${assets.length * ROW_PX}px`;
    this.#options.grid.setAttribute('aria-rowcount', String(assets.length));
    this.draw();
  }

  choose(asset: TaxonomyAsset, by: ChosenBy): void {
    this.#chosen = asset;
    this.#place = this.#assets.indexOf(asset);
    this.draw();
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

  /** Draws with the next frame of the screen. Several calls before that frame cause a single drawing. */
  draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    requestAnimationFrame(() => {
      this.#isDrawing = false;
      this.#drawNow();
    });
  }

  #drawNow(): void {
    const { grid } = this.#options;
    const firstSeen = Math.floor(grid.scrollTop / ROW_PX);
    const endSeen = Math.ceil((grid.scrollTop + grid.clientHeight) / ROW_PX);
    const first = Math.max(firstSeen - MARGIN_ROWS, 0);
    const end = Math.min(endSeen + MARGIN_ROWS, this.#assets.length);
    while (this.#rows.length < end - first) this.#rows.push(this.#createRow());
    const nowMs = performance.now();
    // A place in the list always has the same row, so scrolling by a row changes a single row.
    const count = Math.max(this.#rows.length, 1);
    const used = new Set<Row>();
    if (this.#place < first || this.#place >= end) grid.removeAttribute('aria-activedescendant');
    for (let place = first; place < end; place++) {
      const row = this.#rows[place % count]!;
      used.add(row);
      this.#fill(row, place, nowMs);
    }
    for (const row of this.#rows) if (!used.has(row)) row.root.hidden = true;
    this.#tellSeen(this.#assets.slice(first, end));
  }

  #fill(row: Row, place: number, nowMs: number): void {
    const asset = this.#assets[place]!;
    const { root } = row;
    root.hidden = false;
    root.style.transform = `translateY(${place * ROW_PX}px)`;
    const isChosen = place === this.#place;
    if (isChosen) setAttribute(this.#options.grid, 'aria-activedescendant', root.id);
    setAttribute(root, 'aria-selected', String(isChosen));
    if (row.asset !== asset) {
      row.asset = asset;
      row.shownNs = -1n;
      setAttribute(root, 'aria-rowindex', String(place + 1));
      setText(row.symbol, asset.symbol);
      setAttribute(row.symbol, 'data-name', asset.fullName ?? '');
      row.symbol.title = asset.fullName === undefined ? asset.symbol : `${asset.symbol}: ${asset.fullName}`;
      setText(row.type, typeText(asset));
      setAttribute(row.type, 'data-simulation', String(asset.simulation ?? ''));
    }
    this.#fillValues(row, asset, nowMs);
  }

  #fillValues(row: Row, asset: TaxonomyAsset, nowMs: number): void {
    const { board, changeOf } = this.#options;
    const quote = board.quote(asset);
    const seal = board.seal(asset, nowMs);
    setAttribute(row.root, 'data-seal', seal);
    setText(row.seal, SEAL_TEXTS[seal]);
    if (quote === undefined) {
      row.shownNs = -1n;
      setText(row.price, '—');
      setText(row.change, '');
      setText(row.age, '');
      setText(row.market, marketText(asset.calendar, undefined));
      setAttribute(row.root, 'data-market', '');
      return;
    }
    setText(row.age, ageText(nowMs - quote.madeMs));
    if (row.shownNs === quote.timestampNs) return;
    const isFirst = row.shownNs === -1n;
    row.shownNs = quote.timestampNs;
    showPrice(row.price, shownPrice(quote.price, shownDecimals(quote.price)), isFirst ? 0 : quote.direction);
    const change = changeOf(asset, quote.price);
    setText(row.change, change === undefined ? '' : changeText(change));
    setAttribute(
      row.change,
      'data-direction',
      change === undefined ? '' : String(Math.sign(changeSteps(change))),
    );
    setText(row.market, marketText(asset.calendar, quote.marketStatus));
    setAttribute(row.root, 'data-market', quote.marketStatus ?? '');
  }

  #createRow(): Row {
    const root = (this.#template.content.cloneNode(true) as DocumentFragment)
      .firstElementChild as HTMLElement;
    root.id = `row-${this.#rows.length}`;
    const cell = (name: string) => root.querySelector<HTMLElement>(`.${name}`)!;
    this.#extent.append(root);
    return {
      root,
      symbol: cell('symbol'),
      type: cell('type'),
      price: cell('price'),
      change: cell('change'),
      age: cell('age'),
      market: cell('market'),
      seal: cell('seal'),
      asset: undefined,
      shownNs: -1n,
    };
  }

  #tellSeen(seen: readonly TaxonomyAsset[]): void {
    const text = seen.map((asset) => `${asset.id} ${assetKey(asset)}`).join();
    if (text === this.#seenText) return;
    this.#seenText = text;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#options.onSeen(seen), REST_MS);
  }
}

/** The texts next to the sign of a seal. */
export const SEAL_TEXTS: Readonly<Record<Seal, string>> = {
  waiting: 'waiting',
  verified: 'verified',
  stale: 'stale',
  failed: 'failed its check',
  'not pinned': 'signer not pinned',
};

const FLASH_MS = 700;
const REDUCED_MOTION = matchMedia('(prefers-reduced-motion: reduce)');

/** Shows a price, and colours the digits that changed for a moment. @param direction 0 for a price without a former price */
export function showPrice(element: HTMLElement, text: string, direction: Quote['direction']): void {
  const before = element.textContent;
  if (before === text) return;
  if (direction === 0 || REDUCED_MOTION.matches) {
    element.textContent = text;
    return;
  }
  const kept = keptLength(before, text);
  const moved = document.createElement('span');
  moved.textContent = text.slice(kept);
  element.replaceChildren(text.slice(0, kept), moved);
  moved.animate([{ color: direction > 0 ? 'var(--up)' : 'var(--down)' }, {}], FLASH_MS);
}

/**
 * Sets the text of an element. An unchanged text is not written, because each write makes the browser compute the layout of the row
 * again.
 */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

function setAttribute(element: HTMLElement, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
