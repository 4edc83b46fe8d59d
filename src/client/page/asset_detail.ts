import { NS_PER_MS } from '../../model/time.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { SEAL_TEXTS } from './asset_row.js';
import type { Board, Quote, Seal } from './board.js';
import { byId, element, setAttribute, setText } from './elements.js';
import { showPrice } from './flashed_price.js';
import { CHART_INTERVALS } from './live_candles.js';
import { marketText } from './market_text.js';
import type { PriceChart } from './price_chart.js';
import {
  ageText,
  changeSteps,
  changeText,
  clockText,
  exactPrice,
  momentText,
  shownDecimals,
  shownPrice,
  titleText,
} from './price_text.js';
import { typeText } from './simulation_text.js';
import type { PastView } from './time_travel.js';

export interface AssetDetailOptions {
  readonly board: Board;
  readonly chart: PriceChart;
  readonly changeOf: (asset: TaxonomyAsset, price: bigint) => number | undefined;
  /** Returns the asset at the past instant that the page shows; `undefined` for the current time. */
  readonly past: () => PastView | undefined;
  /** Returns the asset that the chart compares with the shown asset. */
  readonly compared: () => TaxonomyAsset | undefined;
  /** Called when the reader selected another length of candles. */
  readonly onResolution: (by: 'click' | 'key') => void;
}

const SCALE = 1e18;
const FIRST_RESOLUTION: Resolution = '1';

/** The chosen asset with its price, its chart and the text of its seal. */
export class AssetDetail {
  readonly #options: AssetDetailOptions;
  readonly #buttons: readonly HTMLButtonElement[];
  #asset: TaxonomyAsset | undefined;
  #resolution = FIRST_RESOLUTION;
  #chartedNs = 0n;
  #comparedNs = 0n;
  #sealText = '';
  #seal: Seal = 'waiting';

  constructor(options: AssetDetailOptions) {
    this.#options = options;
    this.#buttons = CHART_INTERVALS.map(({ resolution, alias, label }) => {
      const names = alias === undefined ? resolution : `${alias} or ${resolution}`;
      const button = element(
        'button',
        { type: 'button', role: 'radio', title: `resolution ${names}` },
        label,
      );
      button.addEventListener('click', () => this.#choose(resolution, 'click'));
      return button;
    });
    document.querySelector('.intervals')!.replaceChildren(...this.#buttons);
    this.#markResolution();
  }

  get asset(): TaxonomyAsset | undefined {
    return this.#asset;
  }

  /** The text beside the seal, without the age. */
  get sealText(): string {
    return this.#sealText;
  }

  /** The state of the shown price, which may be a past price. */
  get seal(): Seal {
    return this.#seal;
  }

  get resolution(): Resolution {
    return this.#resolution;
  }

  /** Shows an asset, or nothing. */
  show(asset: TaxonomyAsset | undefined): void {
    this.#asset = asset;
    const detail = document.querySelector<HTMLElement>('.detail')!;
    detail.hidden = asset === undefined;
    if (asset === undefined) return;
    // An attribute, because the selector `:has(…) > *` makes the browser style the whole page again after each changed text.
    delete detail.dataset['empty'];
    byId('symbol').textContent = asset.symbol;
    byId('symbol').dataset['name'] = asset.fullName ?? '';
    const type = byId('symbol-type');
    type.textContent = typeText(asset);
    type.dataset['simulation'] = String(asset.simulation ?? '');
    this.#chartedNs = 0n;
    this.draw(performance.now());
    this.#showChart(asset);
  }

  /** Selects longer candles for 1, and shorter candles for -1. */
  moveResolution(step: -1 | 1): void {
    const place = CHART_INTERVALS.findIndex(({ resolution }) => resolution === this.#resolution) + step;
    const next = CHART_INTERVALS[place];
    if (next !== undefined) this.#choose(next.resolution, 'key');
  }

  draw(nowMs: number): void {
    const asset = this.#asset;
    if (asset === undefined) return;
    const past = this.#options.past();
    if (past === undefined) this.#drawPresent(asset, nowMs);
    else this.#drawPast(asset, past);
    setAttribute(document.querySelector('.detail')!, 'data-seal', this.#seal);
  }

  #drawPast(asset: TaxonomyAsset, { atNs, price, signedAtNs, isFailed, problem }: PastView): void {
    this.#seal = price !== undefined ? 'verified' : isFailed ? 'failed' : 'waiting';
    const text = problem ?? SEAL_TEXTS[this.#seal];
    this.#sealText = signedAtNs === undefined ? text : `${text}, signed at ${momentText(signedAtNs)}`;
    this.#drawPrice(price, 0);
    setTitle(titleText(asset.symbol, price, `${pastState(this.#seal, problem)} · ${momentText(atNs)}`));
    setText(byId('change'), '');
    byId('market').hidden = true;
    this.#drawVerdict();
  }

  #drawVerdict(age = ''): void {
    setText(byId('verdict').querySelector('span')!, this.#sealText + age);
  }

  #drawPresent(asset: TaxonomyAsset, nowMs: number): void {
    const { board, changeOf } = this.#options;
    const quote = board.quote(asset);
    const seal = board.seal(asset, nowMs);
    const change = quote && changeOf(asset, quote.price);
    this.#seal = seal;
    this.#drawPrice(quote?.price, quote?.direction ?? 0);
    // A stale price is named with its time, because a picture of the page may be shown to others later.
    const asOf =
      seal === 'stale' && quote !== undefined
        ? `, as of ${clockText(Number(quote.timestampNs / NS_PER_MS))}`
        : '';
    setTitle(titleText(asset.symbol, quote?.price, SEAL_TEXTS[seal] + asOf));
    setText(byId('change'), change === undefined ? '' : changeText(change));
    const direction = change === undefined ? '' : String(Math.sign(changeSteps(change)));
    setAttribute(byId('change'), 'data-direction', direction);
    const market = byId('market');
    setText(market, marketText(asset.calendar, quote?.marketStatus));
    market.hidden = market.textContent === '';
    setAttribute(market, 'data-market', quote?.marketStatus ?? '');
    const age = quote === undefined ? '' : `, ${ageText(nowMs - quote.madeMs)} old`;
    const { fault } = board;
    this.#sealText = fault === undefined ? SEAL_TEXTS[seal] + asOf : `${SEAL_TEXTS[seal]}: ${fault.reason}`;
    this.#drawVerdict(fault === undefined ? age : '');
  }

  /** Draws the exact price. Digits that the table does not show are smaller. */
  #drawPrice(price: bigint | undefined, direction: Quote['direction']): void {
    const [main, rest] = byId('price').children as unknown as [HTMLElement, HTMLElement];
    const text = price === undefined ? '—' : shownPrice(price, shownDecimals(price));
    setText(rest, price === undefined ? '' : exactPrice(price).slice(text.length));
    showPrice(main, text, direction);
  }

  /** Adds the newest verified price to the chart. */
  continueChart(): void {
    if (this.#options.past() !== undefined) return;
    const { board, chart, compared } = this.#options;
    const quote = this.#asset && board.quote(this.#asset);
    if (quote !== undefined && quote.timestampNs !== this.#chartedNs) {
      this.#chartedNs = quote.timestampNs;
      chart.add(Number(quote.price) / SCALE, secondsOf(quote));
    }
    const other = compared();
    const otherQuote = other && board.quote(other);
    if (otherQuote === undefined || otherQuote.timestampNs === this.#comparedNs) return;
    this.#comparedNs = otherQuote.timestampNs;
    chart.addCompared(Number(otherQuote.price) / SCALE, secondsOf(otherQuote));
  }

  /** Shows the chart again after another asset was chosen to compare. */
  showCompared(): void {
    if (this.#asset !== undefined) this.#showChart(this.#asset);
  }

  #choose(resolution: Resolution, by: 'click' | 'key'): void {
    const isOther = resolution !== this.#resolution;
    this.showResolution(resolution);
    if (isOther) this.#options.onResolution(by);
  }

  /** Shows candles of this length; without a length, candles of the length with which the page begins. */
  showResolution(resolution = FIRST_RESOLUTION): void {
    this.#resolution = resolution;
    this.#markResolution();
    if (this.#asset !== undefined) this.#showChart(this.#asset);
  }

  #showChart(asset: TaxonomyAsset): void {
    const { chart, compared, past } = this.#options;
    chart.show({ asset, compared: compared(), resolution: this.#resolution, atNs: past()?.atNs });
  }

  #markResolution(): void {
    const hasFocus = document.activeElement?.parentElement === this.#buttons[0]!.parentElement;
    this.#buttons.forEach((button, i) => {
      const isChosen = CHART_INTERVALS[i]!.resolution === this.#resolution;
      button.setAttribute('aria-checked', String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      if (isChosen && hasFocus) button.focus();
      if (isChosen) button.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  }
}

function secondsOf({ timestampNs }: Quote): number {
  return Number(timestampNs / 1_000_000_000n);
}

/** Sets the title. Skips an unchanged title, because each write sends a message to the browser's own process. */
function setTitle(title: string): void {
  if (document.title !== title) document.title = title;
}

/** Returns the words for the state of a past price in the page's title. The page itself shows the whole reason for a missing price. */
function pastState(seal: Seal, problem: string | undefined): string {
  if (seal !== 'waiting') return SEAL_TEXTS[seal];
  return problem === undefined ? 'reading' : 'no price';
}
