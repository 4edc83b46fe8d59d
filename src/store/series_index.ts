import type { AssetName } from '../model/asset_map.js';
import type { OpenTables } from './open_tables.js';
import type { RecordKeys } from './record_keys.js';
import {
  type AssetSeries,
  dayOfMinute,
  emptySeries,
  HOURS_PER_DAY,
  MINUTES_PER_HOUR,
  storedHour,
} from './series.js';
import type { StoredSeconds } from './stored_seconds.js';

/** A bound above every number of days since 1970 in a record's key. */
const DAY_MAX = 1_000_000;

/**
 * The series of all assets that have records. The index includes assets that are not configured. If such an asset is configured again,
 * the store finds its series.
 */
export interface SeriesIndex {
  all(): Iterable<AssetSeries>;
  /** @throws DamagedRecord when the asset's newest record or hour is damaged */
  of(asset: AssetName): AssetSeries;
  /** Reads the stored hour of a minute whose asset has no newest record in memory. */
  continueHour(series: AssetSeries, runningMinute: number): void;
}

/**
 * Builds the series from the keys of the folder. Reads only the newest record and the newest hour of each configured asset.
 * @param storedSeconds the seconds that the check of the pages found; without all of them, the function reads the keys through lmdb
 */
export function loadSeries(
  assets: readonly AssetName[],
  recordKeys: RecordKeys,
  tables: OpenTables,
  storedSeconds?: StoredSeconds,
): SeriesIndex {
  const knownSeconds = storedSeconds?.byAsset(tables.seconds.recordCount);
  const byAssetKey = new Map<string, AssetSeries>();
  const seriesOf = (assetKey: string) => {
    let series = byAssetKey.get(assetKey);
    if (series === undefined) {
      series = emptySeries(assetKey, knownSeconds?.get(assetKey));
      byAssetKey.set(assetKey, series);
    }
    return series;
  };

  if (knownSeconds === undefined)
    for (const [second, assetKey] of tables.seconds.keysOnDisk())
      seriesOf(String(assetKey)).seconds.push(Number(second));
  else for (const assetKey of knownSeconds.keys()) seriesOf(assetKey);
  for (const [assetKey, hour] of tables.hours.keysOnDisk()) {
    const day = Math.floor(Number(hour) / HOURS_PER_DAY);
    const { unsealedDays } = seriesOf(String(assetKey));
    if (unsealedDays.at(-1) !== day) unsealedDays.push(day);
  }
  // An asset that only received candles of another store may have days and no other records.
  for (const asset of assets) seriesOf(recordKeys.of(asset));
  for (const series of byAssetKey.values()) {
    const range = { start: [series.assetKey, 0], end: [series.assetKey, DAY_MAX], limit: 1 } as const;
    for (const [, day] of tables.days.keysOnDisk(range)) series.firstDay = Number(day);
    const back = { start: range.end, end: range.start, limit: 1, reverse: true } as const;
    for (const [, day] of tables.days.keysOnDisk(back)) series.lastSealedDay = Number(day);
    series.firstDay ??= series.unsealedDays[0];
  }

  function of(asset: AssetName): AssetSeries {
    const series = seriesOf(recordKeys.of(asset));
    const last = series.seconds.at(-1);
    if (series.newest === undefined && last !== undefined) {
      const newest = tables.seconds.get([last, series.assetKey]);
      if (newest?.minute !== undefined) {
        series.firstDay ??= dayOfMinute(newest.minute.minute);
        series.hour = loadHour(series, newest.minute.minute);
      }
      series.newest = newest;
    }
    return series;
  }

  /**
   * Continues the stored hour, so that appending never reads the disk. A follower's disk may be ahead of the received records, because
   * the follower itself closes the running minute.
   */
  function loadHour(series: AssetSeries, runningMinute: number): AssetSeries['hour'] {
    const hour = Math.floor(runningMinute / MINUTES_PER_HOUR);
    const block = storedHour(series, hour, tables);
    while (block.length > 0 && block.slot[block.length - 1]! >= runningMinute % MINUTES_PER_HOUR)
      block.length--;
    return { hour, block };
  }

  for (const asset of assets) of(asset);
  return {
    all: () => byAssetKey.values(),
    of,
    continueHour(series, runningMinute) {
      series.hour = loadHour(series, runningMinute);
    },
  };
}

/** Returns the newest UNIX second for which any asset has a record. */
export function findNewestSecond(seriesIndex: SeriesIndex): number | undefined {
  let newest: number | undefined;
  for (const { seconds } of seriesIndex.all()) {
    const last = seconds.at(-1);
    if (last !== undefined && (newest === undefined || last > newest)) newest = last;
  }
  return newest;
}

/** Returns the first day for which any asset has candles, in days since 1970. */
export function findOldestDay(seriesIndex: SeriesIndex): number | undefined {
  let oldest: number | undefined;
  for (const { firstDay } of seriesIndex.all())
    if (firstDay !== undefined && (oldest === undefined || firstDay < oldest)) oldest = firstDay;
  return oldest;
}
