/** The distance between two candles in CSS pixels: of a full chart, and the largest. */
const SPACING_PX = 8;
const SPACING_PX_MAX = 24;

/** Returns the distance at which a chart shows few candles over its whole width, and otherwise the newest candles. */
export function barSpacing(candles: number, widthPx: number): number {
  const fitting = widthPx / Math.max(candles, 1);
  return Math.min(Math.max(fitting, SPACING_PX), SPACING_PX_MAX);
}
