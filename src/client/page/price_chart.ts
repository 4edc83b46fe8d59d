import {
  CandlestickSeries,
  ColorType,
  createChart,
  type IChartApi,
  type ISeriesApi,
  type UTCTimestamp,
} from 'lightweight-charts';
import type { GapEvent } from '../prices/client_context.js';
import type { StreamClient } from '../prices/stream_client.js';
import { barSpacing } from './bar_spacing.js';
import { assetKey } from './board.js';
import { readHistory, type ShownChart } from './chart_history.js';
import { ComparedLine } from './compared_line.js';
import { element } from './elements.js';
import { GapLines } from './gap_lines.js';
import { type ChartCandle, type ChartGap, gapCount, nextCandle, withGaps } from './live_candles.js';
import { oneAtATime } from './one_at_a_time.js';
import { reasonText } from './plain_reason.js';
import { priceOfDouble, shownDecimals } from './price_text.js';
import { UnfilledGaps } from './unfilled_gaps.js';

/** The room after the newest candle, in candles. */
const RIGHT_CANDLES = 4;
/** The time after which a history that could not be read is requested again. */
const RETRY_MS = 5_000;
/** The largest number of decimals. A double has 15 exact digits; further digits would be wrong. */
const DECIMALS_MAX = 12;

export interface PriceChartOptions {
  readonly container: HTMLElement;
  readonly client: StreamClient;
  /** Called with the reason why the history is missing, or with `undefined`. */
  readonly onHistory: (problem: string | undefined) => void;
}

/** The candles of an asset: the service's history, continued with each verified price. */
export class PriceChart {
  readonly #options: PriceChartOptions;
  readonly #chart: IChartApi;
  readonly #series: ISeriesApi<'Candlestick'>;
  readonly #compared: ComparedLine;
  readonly #gapLines = new GapLines();
  readonly #unfilled = new UnfilledGaps();
  #markColour = '';
  #shown: ShownChart | undefined;
  #last: ChartCandle | undefined;
  #gaps = 0;
  /** The number of candles and empty places. */
  #count = 0;
  #isLoaded = false;
  #retryTimer = 0;

  constructor(options: PriceChartOptions) {
    this.#options = options;
    this.#chart = createChart(options.container, {
      autoSize: true,
      // The logo would add its own style, which the page's policy forbids. The footer of the page names the library instead.
      layout: { attributionLogo: false, fontSize: 11 },
      timeScale: { timeVisible: true, borderVisible: false, rightOffset: RIGHT_CANDLES },
      rightPriceScale: { borderVisible: false },
      handleScale: { axisPressedMouseMove: { price: false } },
    });
    this.#series = this.#chart.addSeries(CandlestickSeries);
    this.#compared = new ComparedLine(this.#chart);
    this.#series.attachPrimitive(this.#gapLines);
    this.#chart.subscribeCrosshairMove(({ time }) => {
      options.container.title = this.#gapLines.textAt(time);
    });
    this.paint();
    for (const media of ['(prefers-color-scheme: dark)', 'print'])
      matchMedia(media).addEventListener('change', () => this.paint());
    addEventListener('beforeprint', () => this.#drawPaper());
    addEventListener('afterprint', () => this.#removePaper());
  }

  /** Takes the colours of the style sheet, which differ by day and night. */
  paint(): void {
    const { container } = this.#options;
    const names = ['--soft', '--line', '--up', '--down', '--text'];
    const [text, line, up, down, compared] = names.map((name) => colourOf(container, name));
    this.#compared.paint(compared!);
    this.#markColour = down!;
    this.#drawMarks();
    this.#chart.applyOptions({
      layout: {
        background: { type: ColorType.Solid, color: 'transparent' },
        textColor: text!,
        fontFamily: getComputedStyle(container).fontFamily,
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

  /** Adds a light picture of the chart for paper, whose size differs from the size of the window. The style sheet scales the picture. */
  #drawPaper(): void {
    // A browser may announce one printing twice.
    this.#removePaper();
    const { style } = document.documentElement;
    style.colorScheme = 'light';
    this.paint();
    const picture = this.#chart.takeScreenshot();
    picture.className = 'paper';
    this.#options.container.append(picture);
    style.colorScheme = '';
    this.paint();
  }

  #removePaper(): void {
    this.#options.container.querySelector('.paper')?.remove();
  }

  /** Shows the history of an asset in a resolution. */
  show(shown: ShownChart): void {
    this.#shown = shown;
    this.#isLoaded = false;
    this.#last = undefined;
    this.#series.setData([]);
    this.#unfilled.clear();
    this.#drawMarks();
    this.#compared.show(shown.compared, shown.resolution);
    this.#series.applyOptions({ title: shown.compared === undefined ? '' : shown.asset.symbol });
    this.#options.container.ariaLabel = `${shown.asset.symbol}: no candles yet`;
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
    const filled = this.#unfilled.fill();
    try {
      const candles = await readHistory(client, shown.asset, shown);
      const compared = shown.compared && (await readHistory(client, shown.compared, shown));
      if (this.#shown !== shown) return;
      if (compared !== undefined) this.#compared.setCandles(compared);
      const bars = withGaps(candles, shown.resolution);
      this.#series.setData(bars.map(barOf));
      this.#gaps = gapCount(bars);
      this.#count = bars.length;
      this.#last = candles.at(-1);
      filled();
      this.#drawMarks();
      if (this.#last !== undefined) this.#showDecimals(this.#last.close);
      this.#describe();
      if (!this.#isLoaded) this.#fit(bars.length);
      this.#isLoaded = true;
      onHistory(undefined);
    } catch (error) {
      if (this.#shown !== shown) return;
      onHistory(`The history cannot be read: ${reasonText(error as Error)}.`);
      this.#retryTimer = setTimeout(() => void this.reload(), RETRY_MS);
    }
  }

  #fit(candles: number): void {
    const scale = this.#chart.timeScale();
    scale.applyOptions({ barSpacing: barSpacing(candles + RIGHT_CANDLES, scale.width()) });
    scale.resetTimeScale();
  }

  /** Marks a part of the stream that did not arrive, until the service's candles were read. */
  missed(gap: GapEvent): void {
    const shown = this.#shown;
    if (shown === undefined || shown.atNs !== undefined || !gap.symbols.includes(assetKey(shown.asset)))
      return;
    this.#unfilled.add(gap);
    this.#drawMarks();
    this.#describe();
    void this.reload();
  }

  #drawMarks(): void {
    const marks = this.#shown === undefined ? [] : this.#unfilled.marks(this.#shown.resolution);
    this.#gapLines.show(marks, this.#markColour);
  }

  /** Continues the last candle with a verified price. */
  add(price: number, atS: number): void {
    if (!this.#isLoaded) return;
    const last = this.#last;
    const candle = nextCandle(last, this.#shown!.resolution, price, atS);
    if (candle === undefined) return;
    this.#last = candle;
    const bars = withGaps([last ?? candle, candle], this.#shown!.resolution).slice(1);
    for (const bar of bars) this.#series.update(barOf(bar));
    if (bars.length > 1) this.#gaps += 1;
    if (last === undefined || candle.time > last.time) this.#count += bars.length;
    this.#describe();
    if (last !== undefined && candle.time > last.time) void this.reload();
  }

  /** Continues the compared line with a verified price. */
  addCompared(price: number, atS: number): void {
    if (this.#isLoaded) this.#compared.add(price, atS);
  }

  /** Describes the chart for a reader who cannot see it. */
  #describe(): void {
    const count = this.#count;
    const gaps = this.#gaps;
    const { asset, compared, resolution } = this.#shown!;
    const { close } = this.#compared;
    const last = this.#last === undefined ? '' : `, the last one closes at ${this.#last.close}`;
    const gapText = gaps === 0 ? '' : ` with ${gaps} ${gaps === 1 ? 'gap' : 'gaps'}`;
    const missed = this.#gapLines.texts;
    const other = compared === undefined ? '' : `; compared in percent with ${compared.symbol}`;
    const otherLast = close === undefined ? '' : `, whose last one closes at ${close}`;
    this.#options.container.ariaLabel = `${asset.symbol}: ${count} candles of ${resolution}${gapText}${last}${missed}${other}${otherLast}`;
  }

  #showDecimals(price: number): void {
    const precision = Math.min(shownDecimals(priceOfDouble(price)), DECIMALS_MAX);
    // The axis groups digits as the table does: 95,028.76.
    const { format } = new Intl.NumberFormat('en', {
      minimumFractionDigits: precision,
      maximumFractionDigits: precision,
    });
    const formatter = (shown: number) => format(shown);
    this.#series.applyOptions({ priceFormat: { type: 'custom', formatter, minMove: 10 ** -precision } });
  }
}

/**
 * Returns a colour of the style sheet as `rgb(…)`, because the chart can read that form. The property itself holds two colours,
 * for day and for night.
 */
function colourOf(container: HTMLElement, property: string): string {
  const probe = element('span', {});
  probe.style.color = `var(${property})`;
  container.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function barOf<T extends ChartGap>(candle: T): T & { readonly time: UTCTimestamp } {
  return { ...candle, time: candle.time as UTCTimestamp };
}
