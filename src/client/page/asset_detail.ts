import { NS_PER_MS } from '../../model/time.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { SEAL_TEXTS, showPrice } from './asset_row.js';
import type { Board, Quote, Seal } from './board.js';
import { byId, element } from './elements.js';
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
    document.querySelector<HTMLElement>('.detail')!.dataset['seal'] = this.#seal;
  }

  #drawPast(asset: TaxonomyAsset, { atNs, price, signedAtNs, isFailed, problem }: PastView): void {
    this.#seal = price !== undefined ? 'verified' : isFailed ? 'failed' : 'waiting';
    const text = problem ?? SEAL_TEXTS[this.#seal];
    this.#sealText = signedAtNs === undefined ? text : `${text}, signed at ${momentText(signedAtNs)}`;
    this.#drawPrice(price, 0);
    document.title = titleText(
      asset.symbol,
      price,
      `${pastState(this.#seal, problem)} · ${momentText(atNs)}`,
    );
    byId('change').textContent = '';
    byId('market').hidden = true;
    byId('verdict').querySelector('span')!.textContent = this.#sealText;
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
    document.title = titleText(asset.symbol, quote?.price, SEAL_TEXTS[seal] + asOf);
    const changeElement = byId('change');
    changeElement.textContent = change === undefined ? '' : changeText(change);
    changeElement.dataset['direction'] = change === undefined ? '' : String(Math.sign(changeSteps(change)));
    const market = byId('market');
    market.textContent = marketText(asset.calendar, quote?.marketStatus);
    market.hidden = market.textContent === '';
    market.dataset['market'] = quote?.marketStatus ?? '';
    const age = quote === undefined ? '' : `, ${ageText(nowMs - quote.madeMs)} old`;
    const { fault } = board;
    this.#sealText = fault === undefined ? SEAL_TEXTS[seal] + asOf : `${SEAL_TEXTS[seal]}: ${fault.reason}`;
    byId('verdict').querySelector('span')!.textContent = this.#sealText + (fault === undefined ? age : '');
  }

  /** Draws the exact price. Digits that the table does not show are smaller. */
  #drawPrice(price: bigint | undefined, direction: Quote['direction']): void {
    const [main, rest] = byId('price').children as unknown as [HTMLElement, HTMLElement];
    const text = price === undefined ? '—' : shownPrice(price, shownDecimals(price));
    rest.textContent = price === undefined ? '' : exactPrice(price).slice(text.length);
    showPrice(main, text, direction);
  }

  /** Adds the newest verified price to the chart. */
  continueChart(): void {
    if (this.#options.past() !== undefined) return;
    const quote = this.#asset && this.#options.board.quote(this.#asset);
    if (quote === undefined || quote.timestampNs === this.#chartedNs) return;
    this.#chartedNs = quote.timestampNs;
    const atS = Number(quote.timestampNs / 1_000_000_000n);
    this.#options.chart.add(Number(quote.price) / SCALE, atS);
    const compared = this.#options.compared();
    const other = compared && this.#options.board.quote(compared);
    if (other === undefined) return;
    this.#options.chart.addCompared(Number(other.price) / SCALE, Number(other.timestampNs / 1_000_000_000n));
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

/** Returns the words for the state of a past price in the page's title. The page itself shows the whole reason for a missing price. */
function pastState(seal: Seal, problem: string | undefined): string {
  if (seal !== 'waiting') return SEAL_TEXTS[seal];
  return problem === undefined ? 'reading' : 'no price';
}
