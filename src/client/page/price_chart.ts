import {
  CandlestickSeries,
  ColorType,
  createChart,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  PriceScaleMode,
  type UTCTimestamp,
} from 'lightweight-charts';
import { html, nothing } from 'lit-html';
import type { StreamClient, TaxonomyAsset } from '../index.js';
import { type ChartCandle, type ChartGap, movedCandle, readHistory, withGaps } from './chart_candles.js';
import { ChartMarks } from './chart_marks.js';
import { oneAtATime } from './one_at_a_time.js';
import type { View } from './parts.js';
import { reasonText } from './plain_reason.js';
import { changeSteps, changeText, priceOfDouble, shownDecimals } from './price_text.js';
import { keepTimesWhole } from './whole_times.js';

/** The room after the newest candle, in candles. */
const RIGHT_CANDLES = 4;
/** The distance between two candles in CSS pixels: of a full chart, and the largest. */
const SPACING_PX = 8;
const SPACING_PX_MAX = 24;
/** The shortest time between two reads of the history, and the time after which a failed read is repeated. */
const RETRY_MS = 5_000;
/** The largest number of decimals. A double has 15 exact digits; further digits would be wrong. */
const DECIMALS_MAX = 12;
const FONT_PX = 11;

/** The contents of the chart. */
interface ShownChart {
  readonly asset: TaxonomyAsset;
  /** The asset that the chart compares with the shown asset. */
  readonly compared: TaxonomyAsset | undefined;
  readonly resolution: string;
  /** The instant at which the chart ends; `undefined` for the present. */
  readonly atNs: bigint | undefined;
}

/**
 * The candles of an asset: the service's history, continued with each verified price. The line of a second asset turns the axis into
 * the change since the left edge in percent, because two prices have no common scale.
 */
export class PriceChart {
  readonly element = document.createElement('div');
  /** The reason why the history is missing, as a sentence. */
  problem: string | undefined;
  readonly #client: StreamClient;
  readonly #draw: () => void;
  readonly #chart: IChartApi;
  readonly #series: ISeriesApi<'Candlestick'>;
  readonly #line: ISeriesApi<'Line'>;
  /** Writes a price with the decimals and groups of the list: 95,028.76. */
  #format = String as (price: number) => string;
  #textColour = '';
  #shown: ShownChart | undefined;
  #bars: (ChartCandle | ChartGap)[] = [];
  #comparedLast: ChartCandle | undefined;
  /** The candle under the cross-hair. */
  #pointed: ChartCandle | undefined;
  #isLoaded = false;
  #readMs = 0;
  #retryTimer = 0;

  /** @param draw draws the page soon */
  constructor(client: StreamClient, draw: () => void) {
    this.#client = client;
    this.#draw = draw;
    Object.assign(this.element, { id: 'chart', role: 'img', ariaLabel: 'Chart of the price' });
    this.#chart = createChart(this.element, {
      autoSize: true,
      // The logo would add its own style, which the page's policy forbids. The foot of the page names the library instead.
      layout: { attributionLogo: false, fontSize: FONT_PX },
      timeScale: { timeVisible: true, borderVisible: false, rightOffset: RIGHT_CANDLES },
      rightPriceScale: {
        borderVisible: false,
        ensureEdgeTickMarksVisible: true,
        scaleMargins: { top: 0.14, bottom: 0.1 },
      },
      handleScale: { axisPressedMouseMove: { price: false } },
    });
    keepTimesWhole(this.element);
    this.#series = this.#chart.addSeries(CandlestickSeries);
    this.#line = this.#chart.addSeries(LineSeries, { lineWidth: 2, priceLineVisible: false });
    this.#series.attachPrimitive(new ChartMarks(() => this.#marked));
    this.#chart.subscribeDblClick(() => {
      this.#chart.timeScale().fitContent();
      this.#chart.priceScale('right').applyOptions({ autoScale: true });
    });
    this.#chart.subscribeCrosshairMove(({ seriesData }) => {
      const bar = seriesData.get(this.#series) as ChartCandle | ChartGap | undefined;
      this.#pointed = bar !== undefined && 'close' in bar ? bar : undefined;
      draw();
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.paint());
  }

  /** Draws the prices of the candle under the cross-hair, or of the last candle. */
  get readOut(): View {
    const candle = this.#pointed ?? this.#last;
    if (candle === undefined) return nothing;
    const moved = candle.open === 0 ? 0 : candle.close / candle.open - 1;
    const names = ['open', 'high', 'low', 'close'] as const;
    return html`${names.map((name) => html`<small>${name[0]!.toUpperCase()}</small> ${this.#format(candle[name])} `)}<span data-direction=${Math.sign(changeSteps(moved))}>${changeText(moved)}</span>`;
  }

  /** Takes the colours of the style sheet, which differ by day and night. The element must be in the page. */
  paint(): void {
    const [text, line, up, down, second] = ['--soft', '--line', '--up', '--down', '--second'].map((name) =>
      colourOf(this.element, name),
    );
    this.#textColour = text!;
    this.#line.applyOptions({ color: second! });
    this.#chart.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: 'transparent' },
        textColor: text!,
        fontFamily: getComputedStyle(this.element).fontFamily,
      },
      grid: { vertLines: { color: line! }, horzLines: { color: line! } },
    });
    // A rising candle is hollow, so that its shape also shows the direction, and not only its colour.
    this.#series.applyOptions({
      upColor: 'transparent',
      priceLineColor: text!,
      downColor: down!,
      borderUpColor: up!,
      borderDownColor: down!,
      wickUpColor: up!,
      wickDownColor: down!,
    });
  }

  /** Shows the history of an asset in a resolution. */
  show(shown: ShownChart): void {
    const { asset, compared } = shown;
    this.#shown = shown;
    this.#isLoaded = false;
    this.#pointed = undefined;
    this.problem = undefined;
    this.#setBars([]);
    this.#setCompared([]);
    // The axis names the line, so that no reader depends on its colour.
    this.#line.applyOptions({ title: compared?.symbol ?? '', visible: compared !== undefined });
    const mode = compared === undefined ? PriceScaleMode.Normal : PriceScaleMode.Percentage;
    this.#chart.priceScale('right').applyOptions({ mode });
    this.element.ariaLabel = `${asset.symbol}: no candles yet`;
    void this.reload();
  }

  /** Reads the history again, because only the service has the candles of a gap and of an interval that has begun. */
  readonly reload = oneAtATime(() => this.#read());

  async #read(): Promise<void> {
    const shown = this.#shown;
    if (shown === undefined) return;
    const { asset, compared, resolution, atNs } = shown;
    clearTimeout(this.#retryTimer);
    this.#readMs = performance.now();
    try {
      const candles = await readHistory(this.#client, asset, resolution, atNs);
      const line = compared && (await readHistory(this.#client, compared, resolution, atNs));
      if (this.#shown !== shown) return;
      this.problem = undefined;
      if (candles.length > 0) this.#showDecimals(candles.at(-1)!.close);
      this.#setCompared(line ?? []);
      this.#setBars(withGaps(candles, resolution));
      if (!this.#isLoaded) this.#fit();
      this.#isLoaded = true;
    } catch (error) {
      if (this.#shown !== shown) return;
      this.problem = `The history cannot be read: ${reasonText(error as Error)}.`;
      this.#retryTimer = setTimeout(() => void this.reload(), RETRY_MS);
    }
    this.#draw();
  }

  #setBars(bars: (ChartCandle | ChartGap)[]): void {
    this.#bars = bars;
    this.#series.setData(bars.map((bar) => ({ ...bar, time: bar.time as UTCTimestamp })));
    this.#describe();
  }

  #setCompared(candles: readonly ChartCandle[]): void {
    this.#comparedLast = candles.at(-1);
    this.#line.setData(candles.map(pointOf));
  }

  /** Shows few candles over the whole width, and otherwise the newest candles. */
  #fit(): void {
    const scale = this.#chart.timeScale();
    const fittingPx = scale.width() / (this.#bars.length + RIGHT_CANDLES);
    scale.applyOptions({ barSpacing: Math.min(Math.max(fittingPx, SPACING_PX), SPACING_PX_MAX) });
    scale.resetTimeScale();
  }

  get #marked() {
    const font = `${FONT_PX}px ${getComputedStyle(this.element).fontFamily}`;
    return { bars: this.#bars, format: this.#format, font, textColour: this.#textColour };
  }

  get #last(): ChartCandle | undefined {
    return this.#bars.at(-1) as ChartCandle | undefined;
  }

  /** Continues the last candle with a verified price, or the line of the compared asset. */
  add(price: number, atS: number, isCompared: boolean): void {
    if (!this.#isLoaded) return;
    const last = isCompared ? this.#comparedLast : this.#last;
    const candle = last && movedCandle(last, this.#shown!.resolution, price, atS);
    if (candle === undefined) {
      if (performance.now() - this.#readMs > RETRY_MS) void this.reload();
      return;
    }
    if (isCompared) {
      this.#comparedLast = candle;
      this.#line.update(pointOf(candle));
    } else {
      this.#bars[this.#bars.length - 1] = candle;
      this.#series.update({ ...candle, time: candle.time as UTCTimestamp });
    }
    this.#describe();
  }

  /** Describes the chart for a reader who cannot see it. */
  #describe(): void {
    const { asset, compared, resolution } = this.#shown!;
    const closes = (candle: ChartCandle | undefined) =>
      candle === undefined ? '' : `, the last one closes at ${candle.close}`;
    const beside = compared
      ? `; compared in percent with ${compared.symbol}${closes(this.#comparedLast)}`
      : '';
    this.element.ariaLabel = `${asset.symbol}: ${this.#bars.length} candles of ${resolution}${closes(this.#last)}${beside}`;
  }

  #showDecimals(price: number): void {
    const digits = Math.min(shownDecimals(priceOfDouble(price)), DECIMALS_MAX);
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    this.#format = new Intl.NumberFormat('en', options).format;
    const priceFormat = { type: 'custom', formatter: this.#format, minMove: 10 ** -digits } as const;
    this.#series.applyOptions({ priceFormat });
  }
}

/**
 * Returns a colour of the style sheet as `rgb(…)`, because the chart can read that form. The property itself holds two colours,
 * for day and for night.
 */
function colourOf(container: HTMLElement, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  container.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function pointOf({ time, close }: ChartCandle) {
  return { time: time as UTCTimestamp, value: close };
}
