import type { Asset } from '../model/asset.js';
import { CandleBlock } from '../records/candle_block.js';
import type { Journal } from './journal.js';
import { type AssetSeries, dayOfMinute, emptySeries, HOURS_PER_DAY, MINUTES_PER_HOUR } from './series.js';
import type { Tables } from './tables.js';

/** More than any day since 1970 in a record's key. */
const DAY_MAX = 1_000_000;

/** The series of all assets that have records, configured or not, so an asset that is configured again finds its own. */
export interface SeriesIndex {
  all(): Iterable<AssetSeries>;
  /** @throws DamagedRecord when the asset's newest record or hour cannot be trusted. */
  of(asset: Asset): AssetSeries;
}

/** Builds the index from the keys of the folder. Of the records it reads only each configured asset's newest one and its hour. */
export function loadSeries(assets: readonly Asset[], journal: Journal, tables: Tables): SeriesIndex {
  const seriesIndex = new Map<string, AssetSeries>();
  const seriesOf = (symbol: string) => {
    let series = seriesIndex.get(symbol);
    if (series === undefined) {
      series = emptySeries(symbol);
      seriesIndex.set(symbol, series);
    }
    return series;
  };

  for (const [second, symbol] of tables.seconds.database.getKeys())
    seriesOf(String(symbol)).seconds.push(Number(second));
  for (const [symbol, hour] of tables.hours.database.getKeys()) {
    const day = Math.floor(Number(hour) / HOURS_PER_DAY);
    const { unsealedDays } = seriesOf(String(symbol));
    if (unsealedDays.at(-1) !== day) unsealedDays.push(day);
  }
  for (const series of seriesIndex.values()) {
    const range = { start: [series.symbol, 0], end: [series.symbol, DAY_MAX], limit: 1 };
    for (const [, day] of tables.days.database.getKeys(range)) series.firstDay = Number(day);
    series.firstDay ??= series.unsealedDays[0];
  }

  function of(asset: Asset): AssetSeries {
    const series = seriesOf(asset.symbol);
    const last = series.seconds.at(-1);
    if (series.newest === undefined && last !== undefined) {
      const newest = journal.get(tables.seconds, [last, series.symbol]);
      if (newest?.minute !== undefined) {
        series.firstDay ??= dayOfMinute(newest.minute.minute);
        series.hour = loadHour(series, Math.floor(newest.minute.minute / MINUTES_PER_HOUR));
      }
      series.newest = newest;
    }
    return series;
  }

  /** Continues the stored hour, so that appending never reads the disk. */
  function loadHour({ symbol }: AssetSeries, hour: number): AssetSeries['hour'] {
    const block = CandleBlock.withRoomFor(MINUTES_PER_HOUR);
    const stored = journal.get(tables.hours, [symbol, hour]);
    if (stored !== undefined) block.pushBlock(stored, 0);
    return { hour, block };
  }

  for (const asset of assets) of(asset);
  return { all: () => seriesIndex.values(), of };
}
