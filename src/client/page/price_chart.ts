import {
  CandlestickSeries,
  ColorType,
  createChart,
  type IChartApi,
  type ISeriesApi,
  type UTCTimestamp,
} from 'lightweight-charts';
import { render } from 'lit-html';
import type { StreamClient } from '../index.js';
import type { ChartCandle } from './answers.js';
import { readHistory, type ShownChart } from './chart_history.js';
import { legendView } from './chart_legend.js';
import { ChartMarks } from './chart_marks.js';
import { ComparedLine } from './compared_line.js';
import { barSpacing, type ChartGap, gapCount, nextCandle, withGaps } from './live_candles.js';
import { oneAtATime } from './one_at_a_time.js';
import { reasonText } from './plain_reason.js';
import { priceOfDouble, shownDecimals } from './price_text.js';
import { keepTimesWhole } from './whole_times.js';

/** The room after the newest candle, in candles. */
const RIGHT_CANDLES = 4;
/** The time after which a history that could not be read is requested again. */
const RETRY_MS = 5_000;
/** The largest number of decimals. A double has 15 exact digits; further digits would be wrong. */
const DECIMALS_MAX = 12;
const FONT_PX = 11;

export interface PriceChartOptions {
  readonly client: StreamClient;
  /** Called with the reason why the history is missing, or with `undefined`. */
  readonly onHistory: (problem: string | undefined) => void;
  /** Ends the comparison. */
  readonly onUncompare: () => void;
}

/** The candles of an asset: the service's history, continued with each verified price. */
export class PriceChart {
  /** The element with the chart and its legend. */
  readonly element = document.createElement('div');
  readonly #options: PriceChartOptions;
  readonly #canvas = document.createElement('div');
  readonly #legend = document.createElement('div');
  readonly #chart: IChartApi;
  readonly #series: ISeriesApi<'Candlestick'>;
  readonly #compared: ComparedLine;
  #colours: readonly string[] = [];
  /** Writes a price with the decimals and groups of the list: 95,028.76. */
  #format = String as (price: number) => string;
  #shown: ShownChart | undefined;
  #bars: (ChartCandle | ChartGap)[] = [];
  /** The time of the candle under the cross-hair. */
  #pointedS: number | undefined;
  #isLoaded = false;
  #retryTimer = 0;

  constructor(options: PriceChartOptions) {
    this.#options = options;
    this.element.className = 'chart-frame';
    this.#legend.className = 'legend';
    Object.assign(this.#canvas, {
      id: 'chart',
      className: 'chart',
      role: 'img',
      ariaLabel: 'Chart of the price',
    });
    this.element.append(this.#legend, this.#canvas);
    this.#chart = createChart(this.#canvas, {
      autoSize: true,
      // The logo would add its own style, which the page's policy forbids. The footer of the page names the library instead.
      layout: { attributionLogo: false, fontSize: FONT_PX },
      timeScale: { timeVisible: true, borderVisible: false, rightOffset: RIGHT_CANDLES },
      rightPriceScale: {
        borderVisible: false,
        ensureEdgeTickMarksVisible: true,
        scaleMargins: { top: 0.14, bottom: 0.1 },
      },
      handleScale: { axisPressedMouseMove: { price: false } },
    });
    keepTimesWhole(this.#canvas);
    this.#series = this.#chart.addSeries(CandlestickSeries);
    this.#compared = new ComparedLine(this.#chart);
    this.#series.attachPrimitive(new ChartMarks(() => this.#marked));
    this.#chart.subscribeCrosshairMove(({ time }) => {
      this.#pointedS = time as number | undefined;
      this.#drawLegend();
    });
    this.#chart.subscribeDblClick(() => {
      this.#chart.timeScale().fitContent();
      this.#chart.priceScale('right').applyOptions({ autoScale: true });
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.paint());
  }

  /** Takes the colours of the style sheet, which differ by day and night. The element must be in the page. */
  paint(): void {
    const names = ['--soft', '--line', '--up', '--down', '--second'];
    this.#colours = names.map((name) => colourOf(this.element, name));
    const [text, line, up, down, second] = this.#colours;
    this.#compared.paint(second!);
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
    this.#shown = shown;
    this.#isLoaded = false;
    this.#pointedS = undefined;
    this.#setBars([]);
    this.#compared.show(shown.compared, shown.resolution);
    this.#canvas.ariaLabel = `${shown.asset.symbol}: no candles yet`;
    this.#options.onHistory(undefined);
    void this.reload();
  }

  /**
   * Reads the history again. The page calls this after a gap, and after an interval has ended, because the service has the
   * exact candle.
   */
  readonly reload = oneAtATime(() => this.#read());

  async #read(): Promise<void> {
    const shown = this.#shown;
    if (shown === undefined) return;
    clearTimeout(this.#retryTimer);
    const { client, onHistory } = this.#options;
    try {
      const candles = await readHistory(client, shown.asset, shown);
      const compared = shown.compared && (await readHistory(client, shown.compared, shown));
      if (this.#shown !== shown) return;
      if (compared !== undefined) this.#compared.setCandles(compared);
      const last = candles.at(-1);
      if (last !== undefined) this.#showDecimals(last.close);
      this.#setBars([...withGaps(candles, shown.resolution)]);
      this.#describe();
      if (!this.#isLoaded) this.#fit(this.#bars.length);
      this.#isLoaded = true;
      onHistory(undefined);
    } catch (error) {
      if (this.#shown !== shown) return;
      onHistory(`The history cannot be read: ${reasonText(error as Error)}.`);
      this.#retryTimer = setTimeout(() => void this.reload(), RETRY_MS);
    }
  }

  #setBars(bars: (ChartCandle | ChartGap)[]): void {
    this.#bars = bars;
    this.#series.setData(bars.map(barOf));
    this.#drawLegend();
  }

  #fit(candles: number): void {
    const scale = this.#chart.timeScale();
    scale.applyOptions({ barSpacing: barSpacing(candles + RIGHT_CANDLES, scale.width()) });
    scale.resetTimeScale();
  }

  get #last(): ChartCandle | undefined {
    return this.#bars.at(-1) as ChartCandle | undefined;
  }

  /** Continues the last candle with a verified price. */
  add(price: number, atS: number): void {
    if (!this.#isLoaded) return;
    const last = this.#last;
    const candle = nextCandle(last, this.#shown!.resolution, price, atS);
    if (candle === undefined) return;
    const isNew = last === undefined || candle.time > last.time;
    const bars = withGaps([last ?? candle, candle], this.#shown!.resolution).slice(1);
    for (const bar of bars) this.#series.update(barOf(bar));
    this.#bars = [...(isNew ? this.#bars : this.#bars.slice(0, -1)), ...bars];
    this.#drawLegend();
    this.#describe();
    if (last !== undefined && isNew) void this.reload();
  }

  /** Continues the compared line with a verified price. */
  addCompared(price: number, atS: number): void {
    if (this.#isLoaded) this.#compared.add(price, atS);
  }

  /** Draws the prices of the candle under the cross-hair, or of the last candle, and the compared asset. */
  #drawLegend(): void {
    const pointed = this.#bars.find(({ time }) => time === this.#pointedS);
    const candle = pointed !== undefined && 'close' in pointed ? pointed : this.#last;
    const compared = this.#shown?.compared?.symbol;
    render(
      legendView({ candle, format: this.#format, compared, onUncompare: this.#options.onUncompare }),
      this.#legend,
    );
  }

  get #marked() {
    const [textColour = ''] = this.#colours;
    const font = `${FONT_PX}px ${getComputedStyle(this.element).fontFamily}`;
    return { bars: this.#bars, format: this.#format, font, textColour };
  }

  /** Describes the chart for a reader who cannot see it. */
  #describe(): void {
    const { asset, resolution } = this.#shown!;
    const gaps = gapCount(this.#bars);
    const last = this.#last === undefined ? '' : `, the last one closes at ${this.#last.close}`;
    const gapText = gaps === 0 ? '' : ` with ${gaps} ${gaps === 1 ? 'gap' : 'gaps'}`;
    this.#canvas.ariaLabel = `${asset.symbol}: ${this.#bars.length} candles of ${resolution}${gapText}${last}${this.#compared.text}`;
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

function barOf<T extends ChartGap>(candle: T): T & { readonly time: UTCTimestamp } {
  return { ...candle, time: candle.time as UTCTimestamp };
}
