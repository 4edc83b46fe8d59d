import type { AssetName } from '../model/asset_map.js';
import type { Holding, PricedHolding } from '../records/holding.js';
import type { Resolution } from '../wire/rest_values.js';
import { type CandleColumns, candleDays, readHistory } from './candle_history.js';
import { sealedDays } from './housekeeping.js';
import type { OpenTables } from './open_tables.js';
import { type AssetSeries, type Days, secondInForce } from './series.js';

/** The part of the store that readers use. */
export interface StoreReader {
  /** Returns the newest state of an asset; `undefined` before the first state. */
  newest(asset: AssetName): Holding | undefined;
  /**
   * Returns the newest aggregate at the end of a UNIX second: the last aggregate with a signing time before the next second.
   * @throws DamagedRecord when a record on disk is damaged
   */
  recent(asset: AssetName, second: number): PricedHolding | undefined;
  /**
   * Returns the candles that start in `fromS` <= t < `toS` (UNIX seconds).
   * @throws DamagedRecord when a record on disk is damaged
   */
  history(
    asset: AssetName,
    resolution: Resolution,
    fromS: number,
    toS: number,
    candlesMax: number,
  ): CandleColumns | 'too many';
  /** Returns the days that may have candles. */
  candleDays(asset: AssetName): Days;
  /** Returns the days whose candles no longer change. */
  sealedDays(asset: AssetName): Days;
}

export function readSeries(seriesOf: (asset: AssetName) => AssetSeries, tables: OpenTables): StoreReader {
  return {
    newest: (asset) => seriesOf(asset).newest,
    recent(asset, second) {
      const series = seriesOf(asset);
      const inForce = secondInForce(series, second);
      if (inForce === undefined) return undefined;
      const isNewest = inForce === series.seconds.at(-1);
      const holding = isNewest ? series.newest : tables.seconds.get([inForce, series.assetKey]);
      return holding?.state === 'priced' ? holding : undefined;
    },
    history: (asset, resolution, fromS, toS, candlesMax) =>
      readHistory(seriesOf(asset), tables, { resolution, fromS, toS, candlesMax }),
    candleDays: (asset) => candleDays(seriesOf(asset)),
    sealedDays: (asset) => sealedDays(seriesOf(asset)),
  };
}
