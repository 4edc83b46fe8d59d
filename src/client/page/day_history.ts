import { REST_PATHS } from '../../wire/paths.js';
import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { readCandlesBySymbol } from './answers.js';
import { assetKey } from './board.js';
import { type ChartCandle, candlesOf } from './live_candles.js';

const DAY_S = 86_400;
/** The length of a candle, in minutes. A day has 96 candles, about one candle for each pixel of a sparkline. */
const RESOLUTION = '15';
/** The largest number of assets in a request. Their candles have about 100 kB, and few lists show more rows. */
const ASSETS_MAX = 25;
const INTERVAL_MS = 900_000;
const RETRY_MS = 30_000;
/** The largest number of stored histories. Above this number, the page removes the history that it read the longest time ago. */
const KEPT_MAX = 250;

export interface DayHistoriesOptions {
  /** Returns the answer of a path of the service. */
  readonly get: (path: string) => Promise<string>;
  /** Returns the service's time in UNIX ms. */
  readonly nowMs: () => number;
}

/** The prices of an asset in the 24 hours before `endS`. The history is not signed. */
export interface DayHistory {
  readonly candles: readonly ChartCandle[];
  /** The time of the reading, in UNIX seconds. */
  readonly endS: number;
  /** The lowest price, also of the verified prices after the reading. */
  readonly low: number;
  /** The highest price, also of the verified prices after the reading. */
  readonly high: number;
}

interface KeptDay {
  /** The history; `undefined` when it is empty or could not be read. */
  readonly day: DayHistory | undefined;
  readonly dueMs: number;
}

/**
 * The candles of the last 24 hours of the visible assets. A request reads many assets, and only one request is in progress at a
 * time, because a page with hundreds of assets must leave enough of its request rate for its chart and its proof. A history is read
 * again after the length of a candle.
 */
export class DayHistories {
  readonly #options: DayHistoriesOptions;
  readonly #kept = new Map<string, KeptDay>();
  #wanted: readonly TaxonomyAsset[] = [];
  #isReading = false;

  constructor(options: DayHistoriesOptions) {
    this.#options = options;
  }

  /**
   * Returns the history of an asset. Extends the range of the history to the newest price.
   * @returns `undefined` until the history is read, and for an asset without one
   */
  follow(asset: TaxonomyAsset, price: number | undefined): DayHistory | undefined {
    const key = assetKey(asset);
    const { day, dueMs } = this.#kept.get(key) ?? {};
    if (day === undefined || dueMs === undefined || price === undefined) return day;
    if (price >= day.low && price <= day.high) return day;
    const wider = { ...day, low: Math.min(day.low, price), high: Math.max(day.high, price) };
    this.#kept.set(key, { day: wider, dueMs });
    return wider;
  }

  /** Reads the absent or old histories of these assets. Drops assets of earlier calls that are not in the list. */
  async read(assets: readonly TaxonomyAsset[]): Promise<void> {
    this.#wanted = assets;
    if (this.#isReading) return;
    this.#isReading = true;
    for (let next = this.#next(); next.length > 0; next = this.#next()) await this.#readSome(next);
    this.#isReading = false;
  }

  /** Returns the first wanted assets of one type whose history is absent. If no history is absent, returns those with an old one. */
  #next(): readonly TaxonomyAsset[] {
    const nowMs = this.#options.nowMs();
    const absent = this.#wanted.filter((asset) => !this.#kept.has(assetKey(asset)));
    const due =
      absent.length > 0
        ? absent
        : this.#wanted.filter((asset) => this.#kept.get(assetKey(asset))!.dueMs <= nowMs);
    return due.filter(({ signatureType }) => signatureType === due[0]!.signatureType).slice(0, ASSETS_MAX);
  }

  /** Reads the histories of assets of one type. */
  async #readSome(assets: readonly TaxonomyAsset[]): Promise<void> {
    const { get, nowMs } = this.#options;
    const endS = Math.floor(nowMs() / 1_000);
    const query = new URLSearchParams({
      assets: assets.map(({ symbol }) => symbol).join(),
      signature_type: assets[0]!.signatureType,
      resolution: RESOLUTION,
      from: String(endS - DAY_S),
      to: String(endS + 1),
    });
    try {
      const found = readCandlesBySymbol(await get(`${REST_PATHS.candles}?${query}`));
      for (const asset of assets) {
        const answer = found.get(asset.symbol);
        const day = answer && dayOf(candlesOf(answer), endS);
        this.#keep(asset, { day, dueMs: nowMs() + INTERVAL_MS });
      }
    } catch {
      // A row without its history has no sparkline. An older history stays until the next attempt.
      for (const asset of assets) {
        const { day } = this.#kept.get(assetKey(asset)) ?? {};
        this.#keep(asset, { day, dueMs: nowMs() + RETRY_MS });
      }
    }
  }

  #keep(asset: TaxonomyAsset, kept: KeptDay): void {
    const key = assetKey(asset);
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break;
      this.#kept.delete(oldest);
    }
  }
}

function dayOf(candles: readonly ChartCandle[], endS: number): DayHistory | undefined {
  if (candles.length === 0) return undefined;
  const low = Math.min(...candles.map((candle) => candle.low));
  const high = Math.max(...candles.map((candle) => candle.high));
  return { candles, endS, low, high };
}
