import type { DayHistory } from './day_history.js';

/** The width and the height of a sparkline in its own units. The style sheet stretches the drawing. */
const WIDTH = 100;
const HEIGHT = 20;
const DAY_S = 86_400;
/** The distance above which two points are not connected: an hour and a half. A closed market causes such a distance. */
const GAP_WIDTH = (5_400 / DAY_S) * WIDTH;

/**
 * Writes the path of a sparkline: the closing prices of the last 24 hours, and the newest price at the right edge. Time is the
 * horizontal axis, so an asset that has half a day of history fills half of the width.
 * @returns an empty text when there are fewer than two points
 */
export function sparkPath({ candles, endS, low, high }: DayHistory, price: number | undefined): string {
  const startS = endS - DAY_S;
  const points = candles
    .filter(({ time }) => time >= startS && time < endS)
    .map(({ time, close }) => [((time - startS) / DAY_S) * WIDTH, close] as const);
  if (price !== undefined) points.push([WIDTH, price]);
  if (points.length < 2) return '';
  const height = high - low;
  return points
    .map(([x, value], i) => {
      // If the price did not change, the line is horizontal and in the middle.
      const part = height === 0 ? 0.5 : (high - value) / height;
      const point = `${x.toFixed(1)} ${(part * HEIGHT).toFixed(1)}`;
      const before = points[i - 1]?.[0];
      // A single point becomes a dot: a line of length 0 with round ends.
      return before !== undefined && x - before <= GAP_WIDTH ? `L${point}` : `M${point}h0`;
    })
    .join('');
}
