import { REST_PATHS } from '../../wire/paths.js';
import { parseExactJson, type TaxonomyAsset } from '../index.js';
import { assetKey } from './board.js';
import { type AnswerColumns, type ChartCandle, candlesOf, DAY_S } from './chart_candles.js';

/** The length of a candle. A day has 96 candles, about one candle for each pixel of a sparkline. */
const RESOLUTION = '15';
const RESOLUTION_S = 900;
/** The largest number of assets in a request. Their candles have about 100 kB, and few lists show more rows. */
const ASSETS_MAX = 25;
/** The largest number of stored histories. Above this number, the history that was read the longest time ago is removed. */
const KEPT_MAX = 250;
/** The time after which a failed request is repeated. */
const RETRY_MS = 15_000;
/** The days in which a market that is closed over a long weekend was open at least once. */
const CLOSED_DAYS = 4;
/** The width and the height of a sparkline in its own units. The style sheet stretches the drawing. */
const WIDTH = 100;
const HEIGHT = 20;
/** The distance above which two points are not connected: an hour and a half. A closed market causes such a distance. */
const GAP_S = 5_400;

/** The prices of an asset in the 24 hours before `endS`. The history is not signed. */
export interface DayHistory {
  readonly candles: readonly ChartCandle[];
  /** The time of the reading; for a market that was closed since longer, the time at which it closed, in UNIX seconds. */
  readonly endS: number;
}

/**
 * The candles of the last 24 hours of the visible assets. A request reads many assets, and only one request is in progress at a time,
 * because a page with hundreds of assets must leave enough of its request rate for its chart and its proof.
 */
export class DayHistories {
  readonly #get: (path: string) => Promise<string>;
  readonly #nowMs: () => number;
  readonly #kept = new Map<string, { readonly day: DayHistory | undefined; readonly dueMs: number }>();
  #wanted: readonly TaxonomyAsset[] = [];
  #isReading = false;

  /**
   * @param get returns the answer of a path of the service
   * @param nowMs returns the service's time in UNIX ms
   */
  constructor(get: (path: string) => Promise<string>, nowMs: () => number) {
    this.#get = get;
    this.#nowMs = nowMs;
  }

  /** Returns the newest history of an asset, even if it is old; `undefined` for an asset without one. */
  get(asset: TaxonomyAsset): DayHistory | undefined {
    return this.#kept.get(assetKey(asset))?.day;
  }

  /** Reads the absent or old histories of these assets. Drops assets of earlier calls that are not in the list. */
  async read(assets: readonly TaxonomyAsset[]): Promise<void> {
    this.#wanted = assets;
    if (this.#isReading) return;
    this.#isReading = true;
    for (let next = this.#nextAssets(); next.length > 0; next = this.#nextAssets())
      await this.#readSome(next);
    this.#isReading = false;
  }

  /** Returns the first wanted assets whose history is absent or old. All of them have one signature type, and market hours or none. */
  #nextAssets(): readonly TaxonomyAsset[] {
    const due = this.#wanted.filter(
      (asset) => (this.#kept.get(assetKey(asset))?.dueMs ?? 0) <= this.#nowMs(),
    );
    const kindOf = ({ signatureType, calendar }: TaxonomyAsset) => `${signatureType} ${calendar === 'none'}`;
    return due.filter((asset) => kindOf(asset) === kindOf(due[0]!)).slice(0, ASSETS_MAX);
  }

  async #readSome(assets: readonly TaxonomyAsset[]): Promise<void> {
    const [{ calendar, signatureType }] = assets as [TaxonomyAsset];
    const endS = Math.floor(this.#nowMs() / 1_000);
    const hasHours = calendar !== 'none';
    const query = new URLSearchParams({
      assets: assets.map(({ symbol }) => symbol).join(),
      signature_type: signatureType,
      resolution: RESOLUTION,
      from: String(endS - (hasHours ? CLOSED_DAYS : 1) * DAY_S),
      to: String(endS + 1),
    });
    try {
      const answer = parseExactJson(await this.#get(`${REST_PATHS.candles}?${query}`));
      const { data } = answer as { data: Readonly<Record<string, AnswerColumns>> };
      for (const asset of assets) {
        const columns = data[asset.symbol];
        const day = columns && dayOf(candlesOf(columns), hasHours, endS);
        this.#keep(assetKey(asset), day, this.#nowMs() + RESOLUTION_S * 1_000);
      }
    } catch {
      // An older history stays until the next attempt.
      for (const asset of assets) this.#keep(assetKey(asset), this.get(asset), this.#nowMs() + RETRY_MS);
    }
  }

  #keep(key: string, day: DayHistory | undefined, dueMs: number): void {
    this.#kept.delete(key);
    this.#kept.set(key, { day, dueMs });
    for (const oldest of this.#kept.keys()) if (this.#kept.size > KEPT_MAX) this.#kept.delete(oldest);
  }
}

/**
 * Makes the history of the last 24 hours, or of the last 24 hours before the market closed. Leaves out the candles in which the price
 * of a market with hours did not move, because publishers may repeat the last price of a closed market, and not all of them the same one.
 */
function dayOf(candles: readonly ChartCandle[], hasHours: boolean, nowS: number): DayHistory | undefined {
  const moving = hasHours ? candles.filter(({ high, low }) => high !== low) : candles;
  const lastS = moving.at(-1)?.time;
  if (lastS === undefined) return undefined;
  const endS = lastS < nowS - GAP_S ? lastS + RESOLUTION_S : nowS;
  return { candles: moving.filter(({ time }) => time >= endS - DAY_S), endS };
}

/** Returns the relative change of a price since the history's beginning; `undefined` if that is unknown. */
export function dayChange(day: DayHistory | undefined, price: number): number | undefined {
  const first = day?.candles[0]?.open ?? 0;
  return first === 0 ? undefined : (price - first) / Math.abs(first);
}

/** Returns the lowest and the highest price of the day, with the newest price. */
export function dayRange(
  { candles }: DayHistory,
  price: number | undefined,
): readonly [low: number, high: number] {
  const newest = price === undefined ? [] : [price];
  return [
    Math.min(...newest, ...candles.map(({ low }) => low)),
    Math.max(...newest, ...candles.map(({ high }) => high)),
  ];
}

/**
 * Writes the path of a sparkline: the closing prices of the last 24 hours, and the newest price at the right edge. Time is the
 * horizontal axis, so an asset that has half a day of history fills half of the width.
 * @returns an empty text when there are fewer than two points
 */
export function sparkPath(day: DayHistory, price: number | undefined): string {
  const startS = day.endS - DAY_S;
  const points = day.candles
    .filter(({ time }) => time < day.endS)
    .map(({ time, close }) => [time, close] as const);
  if (price !== undefined) points.push([day.endS, price]);
  if (points.length < 2) return '';
  const [low, high] = dayRange(day, price);
  return points
    .map(([time, value], i) => {
      // If the price did not change, the line is horizontal and in the middle.
      const part = high === low ? 0.5 : (high - value) / (high - low);
      const x = ((time - startS) / DAY_S) * WIDTH;
      const isJoined = time - (points[i - 1]?.[0] ?? 0) <= GAP_S;
      // A single point becomes a dot: a line of length 0 with round ends.
      return `${isJoined ? 'L' : 'M'}${x.toFixed(1)} ${(part * HEIGHT).toFixed(1)}${isJoined ? '' : 'h0'}`;
    })
    .join('');
}
