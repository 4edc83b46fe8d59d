import {
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  PriceScaleMode,
  type UTCTimestamp,
} from 'lightweight-charts';
import type { Resolution } from '../../wire/rest_values.js';
import type { TaxonomyAsset } from '../index.js';
import type { ChartCandle } from './answers.js';
import { nextCandle } from './live_candles.js';

/**
 * The second asset of a chart: a line beside the candles of the first asset. While there is a line, the axis shows the change since the
 * left edge in percent, because two prices have no common scale.
 */
export class ComparedLine {
  readonly #chart: IChartApi;
  readonly #series: ISeriesApi<'Line'>;
  #symbol: string | undefined;
  #last: ChartCandle | undefined;
  #resolution: Resolution = '1';

  constructor(chart: IChartApi) {
    this.#chart = chart;
    this.#series = chart.addSeries(LineSeries, { lineWidth: 2, priceLineVisible: false });
  }

  /** Describes the line for a reader who cannot see it; empty without a line. */
  get text(): string {
    if (this.#symbol === undefined) return '';
    const last = this.#last === undefined ? '' : `, whose last one closes at ${this.#last.close}`;
    return `; compared in percent with ${this.#symbol}${last}`;
  }

  /** @param color the colour of the style sheet as `rgb(…)` */
  paint(color: string): void {
    this.#series.applyOptions({ color });
  }

  /** Shows the line of an asset, still without candles, or no line. The axis names the line, so that no reader depends on its colour. */
  show(asset: TaxonomyAsset | undefined, resolution: Resolution): void {
    this.#symbol = asset?.symbol;
    this.#resolution = resolution;
    this.setCandles([]);
    this.#series.applyOptions({ title: asset?.symbol ?? '', visible: asset !== undefined });
    const mode = asset === undefined ? PriceScaleMode.Normal : PriceScaleMode.Percentage;
    this.#chart.priceScale('right').applyOptions({ mode });
  }

  setCandles(candles: readonly ChartCandle[]): void {
    this.#last = candles.at(-1);
    this.#series.setData(candles.map(pointOf));
  }

  /** Continues the line with a verified price. Ignores a price that arrives before the history. */
  add(price: number, atS: number): void {
    if (this.#last === undefined) return;
    const candle = nextCandle(this.#last, this.#resolution, price, atS);
    if (candle === undefined) return;
    this.#last = candle;
    this.#series.update(pointOf(candle));
  }
}

function pointOf({ time, close }: ChartCandle) {
  return { time: time as UTCTimestamp, value: close };
}
