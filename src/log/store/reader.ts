import type { AssetName } from '../../model/asset_map.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { Holding } from '../records/holding.js';
import type { Days } from './candle_files.js';
import type { CandleColumns } from './candle_fold.js';

/** The part of the store that readers use. */
export interface StoreReader {
  /** Returns the newest state of an asset; `undefined` before the first state. */
  newest(asset: AssetName): Holding | undefined;
  /** Returns the candles that start in `fromS` <= t < `toS` (UNIX seconds). Damaged candles are left out. */
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
