import { REST_PATHS } from '../../wire/paths.js';
import { DAY_S } from '../../wire/resolution.js';
import type { TaxonomyAsset } from '../index.js';
import { type ChartCandle, readCandlesBySymbol } from './answers.js';
import { Readings } from './readings.js';

/** The length of a candle, in minutes. A day has 96 candles, about one candle for each pixel of a sparkline. */
const RESOLUTION = '15';
const RESOLUTION_S = 900;
/** The largest number of assets in a request. Their candles have about 100 kB, and few lists show more rows. */
const ASSETS_MAX = 25;
const KEPT_MAX = 250;
/** The days in which a market that is closed over a long weekend was open at least once. */
const CLOSED_DAYS = 4;
/** The width and the height of a sparkline in its own units. The style sheet stretches the drawing. */
const WIDTH = 100;
const HEIGHT = 20;
/** The distance above which two points are not connected: an hour and a half. A closed market causes such a distance. */
const GAP_S = 5_400;
const GAP_WIDTH = (GAP_S / DAY_S) * WIDTH;

/** The prices of an asset in the 24 hours before `endS`. The history is not signed. */
export interface DayHistory {
  readonly candles: readonly ChartCandle[];
  /** The time of the reading; for a market that was closed since longer, the time at which it closed, in UNIX seconds. */
  readonly endS: number;
  readonly low: number;
  readonly high: number;
}

/** The candles of the last 24 hours of the visible assets. A history is read again after the length of a candle. */
export class DayHistories extends Readings<DayHistory> {
  /**
   * @param get returns the answer of a path of the service
   * @param nowMs returns the service's time in UNIX ms
   */
  constructor(get: (path: string) => Promise<string>, nowMs: () => number) {
    super({
      assetsMax: ASSETS_MAX,
      keptMax: KEPT_MAX,
      nowMs,
      dueMs: (askedMs) => askedMs + RESOLUTION_S * 1_000,
      async read(assets, type) {
        const endS = Math.floor(nowMs() / 1_000);
        // All assets of a request have market hours, or none has.
        const hasHours = assets[0]!.calendar !== 'none';
        const days = hasHours ? CLOSED_DAYS : 1;
        const query = new URLSearchParams({
          assets: assets.map(({ symbol }) => symbol).join(),
          signature_type: type,
          resolution: RESOLUTION,
          from: String(endS - days * DAY_S),
          to: String(endS + 1),
        });
        const found = readCandlesBySymbol(await get(`${REST_PATHS.candles}?${query}`));
        return new Map(
          [...found].flatMap(([symbol, candles]) =>
            dayOf(symbol, hasHours ? movingOf(candles) : candles, endS),
          ),
        );
      },
    });
  }

  /**
   * Returns the history of an asset. Extends the range of the history to the newest price.
   * @returns `undefined` until the history is read, and for an asset without one
   */
  follow(asset: TaxonomyAsset, price: number | undefined): DayHistory | undefined {
    const day = this.get(asset);
    if (day === undefined || price === undefined || (price >= day.low && price <= day.high)) return day;
    const wider = { ...day, low: Math.min(day.low, price), high: Math.max(day.high, price) };
    this.replace(asset, wider);
    return wider;
  }
}

/** Leaves out the candles in which the price stayed the same, because the last price of a closed market may be repeated. */
function movingOf(candles: readonly ChartCandle[]): readonly ChartCandle[] {
  return candles.filter(({ high, low, close }, i) => high !== low || close !== candles[i - 1]?.close);
}

/** Makes the history of the last 24 hours, or of the last 24 hours before the market closed. */
function dayOf(
  symbol: string,
  candles: readonly ChartCandle[],
  nowS: number,
): readonly (readonly [string, DayHistory])[] {
  const lastS = candles.at(-1)?.time;
  if (lastS === undefined) return [];
  const endS = lastS < nowS - GAP_S ? lastS + RESOLUTION_S : nowS;
  const shown = candles.filter(({ time }) => time >= endS - DAY_S);
  const low = Math.min(...shown.map((candle) => candle.low));
  const high = Math.max(...shown.map((candle) => candle.high));
  return [[symbol, { candles: shown, endS, low, high }]];
}

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
