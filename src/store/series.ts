import { NS_PER_SECOND } from '../model/time.js';
import { CandleBlock } from '../records/candle_block.js';
import type { Holding, MinuteCandle } from '../records/holding.js';
import type { OpenTables } from './open_tables.js';

export const MINUTES_PER_HOUR = 60;
export const HOURS_PER_DAY = 24;
export const MINUTES_PER_DAY = 1_440;

/**
 * The number of seconds that wait in memory while the disk fails: about 60 MB with five inputs each. The store drops later seconds and
 * records a gap. For a gap, `recent` returns nothing instead of an older price.
 */
const WAITING_SECONDS_MAX = 10_000;

/** The part of an asset's records that is in memory. The other records are in the journal or on disk. */
export interface AssetSeries {
  /** The text that names the asset in the keys of its records, from `RecordKeys`. */
  readonly assetKey: string;
  /** The seconds of the window that have a record, ascending. */
  readonly seconds: number[];
  /** The last record of `seconds`; `undefined` before the first record. */
  newest: Holding | undefined;
  /** The closed minutes of the hour that contains the running minute or the last closed minute. */
  hour: { readonly hour: number; readonly block: CandleBlock } | undefined;
  /** Days whose minutes are still in hours, ascending. */
  readonly unsealedDays: number[];
  /** True when an hour is damaged. Days then stay in hours, and reading the damaged hour fails. */
  isSealingStopped: boolean;
  /** The first day that may have candles; `undefined` when there is none. */
  firstDay: number | undefined;
  /** The last day that was sealed; `undefined` when there is none. */
  lastSealedDay: number | undefined;
}

/** Makes the series of an asset of which only the seconds with records are known. */
export function emptySeries(assetKey: string, seconds: number[] = []): AssetSeries {
  return {
    assetKey,
    seconds,
    newest: undefined,
    hour: undefined,
    unsealedDays: [],
    isSealingStopped: false,
    firstDay: undefined,
    lastSealedDay: undefined,
  };
}

/**
 * Records the asset's next holding from this thread, another thread or another machine. The time of the holding must not be before the
 * newest holding.
 */
export function recordHolding(series: AssetSeries, holding: Holding, tables: OpenTables): void {
  const { minute } = holding;
  const running = series.newest?.minute;
  if (minute !== undefined && minute.minute !== running?.minute) {
    if (running !== undefined) closeMinute(series, running, tables);
    series.firstDay ??= dayOfMinute(minute.minute);
  }
  remember(series, Number(holding.timeNs / NS_PER_SECOND), holding, tables);
}

/** Returns the newest second of `seconds` up to and including `second`. */
export function secondInForce(series: AssetSeries, second: number): number | undefined {
  let low = 0;
  let high = series.seconds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.seconds[middle]! <= second) low = middle + 1;
    else high = middle;
  }
  return series.seconds[low - 1];
}

/** A range of days since 1970. `end` is not included. */
export interface Days {
  readonly first: number;
  readonly end: number;
}

export function dayOfMinute(minute: number): number {
  return Math.floor(minute / MINUTES_PER_DAY);
}

/**
 * Adds a closed minute to its hour. This minute and later minutes may already have come from another node. So the minute may
 * replace an earlier copy, or may belong to a sealed day.
 */
export function closeMinute(series: AssetSeries, closed: MinuteCandle, tables: OpenTables): void {
  const hour = Math.floor(closed.minute / MINUTES_PER_HOUR);
  const day = dayOfMinute(closed.minute);
  const { unsealedDays, lastSealedDay } = series;
  if (!unsealedDays.includes(day) && lastSealedDay !== undefined && day <= lastSealedDay) return;
  if (series.hour?.hour !== hour) series.hour = { hour, block: storedHour(series, hour, tables) };
  const { block } = series.hour;
  block.put(closed.minute % MINUTES_PER_HOUR, closed.open, closed.high, closed.low, closed.close);
  tables.hours.put([series.assetKey, hour], block);
  noteUnsealed(series, day);
}

/** Notes that the minutes of a day are in hours. */
export function noteUnsealed({ unsealedDays }: AssetSeries, day: number): void {
  if (unsealedDays.includes(day)) return;
  unsealedDays.push(day);
  unsealedDays.sort((a, b) => a - b);
}

/** Returns the stored minutes of an hour, with room for all minutes. */
export function storedHour({ assetKey }: AssetSeries, hour: number, tables: OpenTables): CandleBlock {
  const block = CandleBlock.withRoomFor(MINUTES_PER_HOUR);
  const stored = tables.hours.get([assetKey, hour]);
  if (stored !== undefined) block.pushBlock(stored, 0);
  return block;
}

function remember(series: AssetSeries, second: number, holding: Holding, tables: OpenTables): void {
  if (series.seconds.at(-1) !== second) {
    if (tables.seconds.waiting > WAITING_SECONDS_MAX) letGo(series, tables);
    series.seconds.push(second);
  }
  series.newest = holding;
  tables.seconds.put([second, series.assetKey], holding);
}

/** Drops the newest record if the record still waits for a failing disk. The record becomes a gap, or part of the preceding gap. */
function letGo(series: AssetSeries, tables: OpenTables): void {
  const last = series.seconds.at(-1);
  if (last === undefined || !tables.seconds.isWaiting([last, series.assetKey])) return;
  const before = series.seconds.at(-2);
  const isGapBefore =
    before !== undefined &&
    tables.seconds.isWaiting([before, series.assetKey]) &&
    tables.seconds.get([before, series.assetKey])?.state === 'gap';
  if (isGapBefore) {
    tables.seconds.remove([last, series.assetKey]);
    series.seconds.pop();
  } else {
    const { timeNs } = series.newest!;
    tables.seconds.put([last, series.assetKey], { state: 'gap', timeNs, minute: undefined });
  }
}

/** Returns whether a holding that arrives again is older than the newest holding. Several holdings may have the same time. */
export function isBefore(told: Holding, newest: Holding): boolean {
  if (told.timeNs !== newest.timeNs) return told.timeNs < newest.timeNs;
  return (told.minute?.minute ?? 0) < (newest.minute?.minute ?? 0);
}
