import type { TaxonomyAsset } from '../prices/taxonomy.js';
import type { Board, Seal } from './board.js';
import type { DayHistories, DayHistory } from './day_history.js';
import { setAttribute, setText } from './elements.js';
import type { Favourites } from './favourites.js';
import { showPrice } from './flashed_price.js';
import { marketText } from './market_text.js';
import { ageText, changeSteps, changeText, priceOfDouble, shownDecimals, shownPrice } from './price_text.js';
import { typeText } from './simulation_text.js';
import { sparkPath } from './sparkline.js';

const SCALE = 1e18;

/** The data that rows show. */
export interface RowData {
  readonly board: Board;
  readonly days: Pick<DayHistories, 'follow'>;
  readonly favourites: Pick<Favourites, 'has'>;
  /** Returns the change of a price against its base, or `undefined` if the base is unknown. */
  readonly changeOf: (asset: TaxonomyAsset, price: bigint) => number | undefined;
}

const CELLS = ['symbol', 'full', 'type', 'range', 'price', 'change', 'age', 'market', 'seal'] as const;

/** A drawn row. The row shows another asset after the list is scrolled. */
export class AssetRow {
  readonly root: HTMLElement;
  readonly #data: RowData;
  readonly #cells: Readonly<Record<(typeof CELLS)[number], HTMLElement>>;
  readonly #star: HTMLElement;
  readonly #spark: Element;
  #asset: TaxonomyAsset | undefined;
  /** The drawn distance from the top of the list; `undefined` while the row is hidden. */
  #topPx: number | undefined;
  #shownNs = -1n;
  #shownDay: DayHistory | undefined;
  /** The price at the end of the drawn sparkline. */
  #shownEnd: number | undefined;

  /** @param template the element of the page from which rows are made */
  constructor(template: HTMLTemplateElement, id: string, data: RowData) {
    this.root = (template.content.cloneNode(true) as DocumentFragment).firstElementChild as HTMLElement;
    this.root.id = id;
    this.#data = data;
    const cells = CELLS.map((name) => [name, this.root.querySelector<HTMLElement>(`.${name}`)!]);
    this.#cells = Object.fromEntries(cells) as Record<(typeof CELLS)[number], HTMLElement>;
    this.#star = this.root.querySelector<HTMLElement>('.star')!;
    this.#spark = this.root.querySelector('.spark path')!;
  }

  get asset(): TaxonomyAsset | undefined {
    return this.#asset;
  }

  /** Shows the row at a distance from the top of the list, in CSS pixels. */
  place(topPx: number): void {
    if (this.#topPx === topPx) return;
    this.#topPx = topPx;
    this.root.hidden = false;
    this.root.style.transform = `translateY(${topPx}px)`;
  }

  hide(): void {
    this.#topPx = undefined;
    this.root.hidden = true;
  }

  /** @param rowIndex the number of the row for screen readers, which counts the column headers as the first row */
  show(asset: TaxonomyAsset, rowIndex: number, nowMs: number): void {
    setAttribute(this.root, 'aria-rowindex', String(rowIndex));
    if (this.#asset !== asset) this.#showNames(asset);
    const isFavourite = this.#data.favourites.has(asset);
    setAttribute(this.#star, 'aria-pressed', String(isFavourite));
    this.#showValues(asset, nowMs);
    this.#showDay(asset);
  }

  #showNames(asset: TaxonomyAsset): void {
    const { symbol, full, type } = this.#cells;
    const { fullName = '' } = asset;
    this.#asset = asset;
    this.#shownNs = -1n;
    setText(symbol, asset.symbol);
    setText(full, fullName);
    symbol.title = fullName === '' ? asset.symbol : `${asset.symbol}: ${fullName}`;
    setText(type, typeText(asset));
    setAttribute(type, 'data-simulation', String(asset.simulation ?? ''));
    setAttribute(this.#star, 'aria-label', `Favourite: ${asset.symbol}`);
  }

  #showValues(asset: TaxonomyAsset, nowMs: number): void {
    const { board, changeOf } = this.#data;
    const { price, change, age, market, seal } = this.#cells;
    const quote = board.quote(asset);
    const state = board.seal(asset, nowMs);
    setAttribute(this.root, 'data-seal', state);
    setText(seal, SEAL_TEXTS[state]);
    if (quote === undefined) {
      this.#shownNs = -1n;
      setText(price, '—');
      setText(change, '');
      setText(age, '');
      setText(market, marketText(asset.calendar, undefined));
      setAttribute(this.root, 'data-market', '');
      return;
    }
    setText(age, ageText(nowMs - quote.madeMs));
    if (this.#shownNs === quote.timestampNs) return;
    const isFirst = this.#shownNs === -1n;
    this.#shownNs = quote.timestampNs;
    showPrice(price, shownPrice(quote.price, shownDecimals(quote.price)), isFirst ? 0 : quote.direction);
    const moved = changeOf(asset, quote.price);
    setText(change, moved === undefined ? '' : changeText(moved));
    const direction = moved === undefined ? '' : String(Math.sign(changeSteps(moved)));
    setAttribute(change, 'data-direction', direction);
    setText(market, marketText(asset.calendar, quote.marketStatus));
    setAttribute(this.root, 'data-market', quote.marketStatus ?? '');
  }

  /** Draws the sparkline and the range of the last 24 hours, which end at the newest verified price. */
  #showDay(asset: TaxonomyAsset): void {
    const quote = this.#data.board.quote(asset);
    const price = quote && Number(quote.price) / SCALE;
    const day = this.#data.days.follow(asset, price);
    if (this.#shownDay === day && this.#shownEnd === price) return;
    this.#shownDay = day;
    this.#shownEnd = price;
    setAttribute(this.#spark, 'd', day === undefined ? '' : sparkPath(day, price));
    setText(this.#cells.range, day === undefined ? '' : rangeText(day));
  }
}

/** Writes a range. It has two decimals less than a price, because it must fit under a sparkline: `94,902 – 95,310`. */
function rangeText({ low, high }: DayHistory): string {
  const [lowest, highest] = [priceOfDouble(low), priceOfDouble(high)];
  const decimals = Math.max(shownDecimals(lowest) - 2, 0);
  return `${shownPrice(lowest, decimals)} – ${shownPrice(highest, decimals)}`;
}

/** The texts next to the sign of a seal. */
export const SEAL_TEXTS: Readonly<Record<Seal, string>> = {
  waiting: 'waiting',
  verified: 'verified',
  stale: 'stale',
  failed: 'failed its check',
  'not pinned': 'signer not pinned',
  'unsigned mapping': 'unsigned mapping',
};
