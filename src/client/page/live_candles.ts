import { intervalAt } from '../../wire/resolution.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { ChartCandle } from './answers.js';

/** An interval without a price. The chart leaves its place empty. */
export type ChartGap = Pick<ChartCandle, 'time'>;

/**
 * The maximum number of empty places in one gap. So a closed market or a long loss of connection does not push the candles out of
 * view.
 */
const GAP_MAX = 24;

/** A resolution that the page offers. Day, week and month have two names each, such as `1D` and `D`. */
export interface ChartInterval {
  readonly resolution: Resolution;
  readonly alias: Resolution | undefined;
  readonly label: string;
}

/** The thirteen intervals among the sixteen values of `resolution`. */
export const CHART_INTERVALS: readonly ChartInterval[] = [
  chartInterval('1', '1m'),
  chartInterval('2', '2m'),
  chartInterval('5', '5m'),
  chartInterval('15', '15m'),
  chartInterval('30', '30m'),
  chartInterval('60', '1h'),
  chartInterval('120', '2h'),
  chartInterval('240', '4h'),
  chartInterval('360', '6h'),
  chartInterval('720', '12h'),
  chartInterval('1D', '1D', 'D'),
  chartInterval('1W', '1W', 'W'),
  chartInterval('1M', '1M', 'M'),
];

/**
 * Computes the candle that follows from the last candle and a price: the last candle with this price added, or the candle of
 * the next interval.
 * @returns `undefined` for a price of an interval before the last candle's
 */
export function nextCandle(
  last: ChartCandle | undefined,
  resolution: Resolution,
  price: number,
  atS: number,
): ChartCandle | undefined {
  const { startS } = intervalAt(resolution, atS);
  if (last === undefined || startS > last.time)
    return { time: startS, open: price, high: price, low: price, close: price };
  if (startS < last.time) return undefined;
  return { ...last, high: Math.max(last.high, price), low: Math.min(last.low, price), close: price };
}

/** Adds the empty intervals between candles. For a longer gap, only the last {@link GAP_MAX} intervals are added. */
export function withGaps(
  candles: readonly ChartCandle[],
  resolution: Resolution,
): readonly (ChartCandle | ChartGap)[] {
  return candles.flatMap((candle, i) => {
    const before = candles[i - 1]?.time;
    const empty: (ChartCandle | ChartGap)[] = [];
    let { startS } = intervalAt(resolution, candle.time - 1);
    while (before !== undefined && startS > before && empty.length < GAP_MAX) {
      empty.unshift({ time: startS });
      startS = intervalAt(resolution, startS - 1).startS;
    }
    return [...empty, candle];
  });
}

/** Returns the number of gaps between candles. */
export function gapCount(bars: readonly (ChartCandle | ChartGap)[]): number {
  return bars.filter((bar, i) => i > 0 && 'close' in bar && !('close' in bars[i - 1]!)).length;
}

/** The distance between two candles in CSS pixels: of a full chart, and the largest. */
const SPACING_PX = 8;
const SPACING_PX_MAX = 24;

/** Returns the distance at which a chart shows few candles over its whole width, and otherwise the newest candles. */
export function barSpacing(candles: number, widthPx: number): number {
  const fitting = widthPx / Math.max(candles, 1);
  return Math.min(Math.max(fitting, SPACING_PX), SPACING_PX_MAX);
}

function chartInterval(resolution: Resolution, label: string, alias?: Resolution): ChartInterval {
  return { resolution, alias, label };
}
