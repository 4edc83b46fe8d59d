import type { AssetName } from '../model/asset_map.js';
import { CandleBlock } from '../records/candle_block.js';
import { decodeCandles, encodeCandles } from '../records/candle_record.js';
import { type Holding, pricedHolding } from '../records/holding.js';
import { minutesOf } from './candle_history.js';
import { MINUTES_PER_QUARTER } from './housekeeping.js';
import type { OpenTables } from './open_tables.js';
import {
  type AssetSeries,
  closeMinute,
  HOURS_PER_DAY,
  MINUTES_PER_DAY,
  MINUTES_PER_HOUR,
  noteUnsealed,
  storedHour,
} from './series.js';
import type { SeriesIndex } from './series_index.js';

/** Candles as records that another store can use. Minutes, hours and days are counted since 1970. */
export interface StoredCandles {
  /** Returns the closed minutes of an hour whose day is not sealed; `undefined` without such minutes. */
  hour(asset: AssetName, hour: number): Uint8Array | undefined;
  /** Returns the minutes of a sealed day; `undefined` without such minutes. */
  day(asset: AssetName, day: number): Uint8Array | undefined;
  /**
   * Closes all running minutes, because this store lacks the records that follow these minutes. The caller must call this method
   * before it adds hours and days. A later record of the same minute continues the minute.
   */
  closeRunning(): void;
  /**
   * Adds the closed minutes of another store. These minutes replace existing minutes. The store may then record the same minutes
   * again.
   */
  addHour(asset: AssetName, hour: number, record: Uint8Array): void;
  addDay(asset: AssetName, day: number, record: Uint8Array): void;
}

export function storedCandles(seriesIndex: SeriesIndex, tables: OpenTables): StoredCandles {
  return {
    hour(asset, hour) {
      const block = minutesOf(seriesIndex.of(asset), hour, tables);
      return block === undefined || block.length === 0 ? undefined : new Uint8Array(encodeCandles(block));
    },
    day(asset, day) {
      const block = tables.days.get([seriesIndex.of(asset).assetKey, day]);
      return block && new Uint8Array(encodeCandles(block));
    },
    closeRunning() {
      for (const series of seriesIndex.all()) closeRunning(series, tables);
    },
    addHour: (asset, hour, record) => addHour(seriesIndex.of(asset), hour, decodeCandles(record), tables),
    addDay: (asset, day, record) => addDay(seriesIndex.of(asset), day, decodeCandles(record), tables),
  };
}

function closeRunning(series: AssetSeries, tables: OpenTables): void {
  const { newest } = series;
  if (newest?.minute === undefined) return;
  closeMinute(series, newest.minute, tables);
  const closed: Holding =
    newest.state === 'priced'
      ? pricedHolding(newest.line, newest.timeNs, undefined)
      : { ...newest, minute: undefined };
  series.newest = closed;
  tables.seconds.put([series.seconds.at(-1)!, series.assetKey], closed);
}

function addHour(series: AssetSeries, hour: number, given: CandleBlock, tables: OpenTables): void {
  if (given.length === 0) return;
  const block = storedHour(series, hour, tables);
  const { slot, open, high, low, close, length } = given;
  for (let i = 0; i < length && slot[i]! < MINUTES_PER_HOUR; i++)
    block.put(slot[i]!, open[i]!, high[i]!, low[i]!, close[i]!);
  if (series.hour?.hour === hour) series.hour = { hour, block };
  tables.hours.put([series.assetKey, hour], block);
  const day = Math.floor(hour / HOURS_PER_DAY);
  noteUnsealed(series, day);
  noteFirst(series, day);
}

/** Adds a day. If the store has unsealed minutes of the day, the housekeeping seals the day later. */
function addDay(series: AssetSeries, day: number, given: CandleBlock, tables: OpenTables): void {
  if (series.unsealedDays.includes(day)) {
    for (let hourOfDay = 0; hourOfDay < HOURS_PER_DAY; hourOfDay++) {
      const minutes = hourOf(given, hourOfDay);
      addHour(series, day * HOURS_PER_DAY + hourOfDay, minutes, tables);
    }
    return;
  }
  const block = merged(tables.days.get([series.assetKey, day]), given, MINUTES_PER_DAY);
  tables.days.put([series.assetKey, day], block);
  tables.quarters.put([series.assetKey, day], block.coarser(MINUTES_PER_QUARTER));
  noteFirst(series, day);
  series.lastSealedDay = Math.max(day, series.lastSealedDay ?? day);
}

function noteFirst(series: AssetSeries, day: number): void {
  if (series.firstDay === undefined || day < series.firstDay) series.firstDay = day;
}

/** Returns the minutes of an hour of a day. */
function hourOf(day: CandleBlock, hourOfDay: number): CandleBlock {
  const block = CandleBlock.withRoomFor(MINUTES_PER_HOUR);
  for (let i = 0; i < day.length; i++)
    if (Math.floor(day.slot[i]! / MINUTES_PER_HOUR) === hourOfDay)
      pushFrom(block, day, i, -hourOfDay * MINUTES_PER_HOUR);
  return block;
}

/** Merges both blocks, ascending. If both have a candle for a slot, the candle of `added` counts. */
function merged(known: CandleBlock | undefined, added: CandleBlock, slots: number): CandleBlock {
  const block = CandleBlock.withRoomFor(slots);
  let at = 0;
  for (let i = 0; i < added.length; i++) {
    for (; known !== undefined && at < known.length && known.slot[at]! <= added.slot[i]!; at++)
      if (known.slot[at]! < added.slot[i]!) pushFrom(block, known, at, 0);
    pushFrom(block, added, i, 0);
  }
  for (; known !== undefined && at < known.length; at++) pushFrom(block, known, at, 0);
  return block;
}

function pushFrom(block: CandleBlock, source: CandleBlock, i: number, slotOffset: number): void {
  const { slot, open, high, low, close } = source;
  block.push(slot[i]! + slotOffset, open[i]!, high[i]!, low[i]!, close[i]!);
}
