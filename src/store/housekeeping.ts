import { NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { CandleBlock } from '../records/candle_block.js';
import { DamagedRecord } from '../records/envelope.js';
import { DAY_S } from '../wire/resolution.js';
import { RECENT_WINDOW_S } from '../wire/rest_values.js';
import { minutesOf } from './candle_history.js';
import type { OpenTables } from './open_tables.js';
import {
  type AssetSeries,
  type Days,
  dayOfMinute,
  HOURS_PER_DAY,
  MINUTES_PER_DAY,
  MINUTES_PER_HOUR,
} from './series.js';

export const MINUTES_PER_QUARTER = 15;

/** The smallest limit on the seconds that a commit removes. The limits keep commits short at midnight and after a long pause. */
const REMOVED_SECONDS_MIN = 2_000;
/**
 * The number of records that a commit may remove for each written record. With slow commits and many assets, a commit writes more
 * records, so the commit must also remove more. Otherwise the number of records would grow.
 */
const REMOVED_PER_WRITTEN = 2;
const SEALED_DAYS_MAX = 2;
const REMOVED_DAYS_MAX = 16;
/** The number of seconds that `recent` keeps in addition to its window, because clocks differ. */
const RECENT_SLACK_S = 60;

/** The times before which records are no longer needed. */
export interface Cutoffs {
  /** A UNIX second. The store needs only later records and the newest record up to this second. */
  readonly second: number;
  /** A number of days since 1970. The retention of candles of earlier days has ended. */
  readonly day: number;
}

/** A day of an asset whose minutes have moved from hours into a single record. */
export interface SealedDay {
  readonly assetKey: string;
  readonly day: number;
}

/** The part of a commit that a follower must know. */
export interface Commit {
  readonly cutoffs: Cutoffs;
  readonly sealed: readonly SealedDay[];
}

/** Returns the cutoffs at a time. */
export function cutoffsAt(nowNs: TimeNs, candleRetentionMs: number): Cutoffs {
  return {
    second: Number(nowNs / NS_PER_SECOND) - RECENT_WINDOW_S - RECENT_SLACK_S,
    day: Math.floor((Number(nowNs / NS_PER_MS) - candleRetentionMs) / (DAY_S * 1000)),
  };
}

/**
 * Does a bounded part of the work that keeps the folder small: seals days and removes old records. Runs before every commit.
 * @param onDamage called with a damaged record; the asset's days are then no longer sealed, but all other work continues
 * @returns the sealed days
 */
export function runHousekeeping(
  allSeries: Iterable<AssetSeries>,
  cutoffs: Cutoffs,
  tables: OpenTables,
  onDamage: (damage: DamagedRecord) => void,
): readonly SealedDay[] {
  const sealed: SealedDay[] = [];
  let secondsLeft = Math.max(REMOVED_SECONDS_MIN, REMOVED_PER_WRITTEN * tables.seconds.waiting);
  let sealsLeft = SEALED_DAYS_MAX;
  let daysLeft = REMOVED_DAYS_MAX;
  for (const series of allSeries) {
    while (secondsLeft > 0 && series.seconds.length > 1 && series.seconds[1]! <= cutoffs.second) {
      tables.seconds.remove([series.seconds.shift()!, series.assetKey]);
      secondsLeft--;
    }
    const today = runningDay(series);
    if (today === undefined) continue;
    while (sealsLeft > 0 && !series.isSealingStopped && (series.unsealedDays[0] ?? today) < today) {
      const { assetKey, unsealedDays } = series;
      const day = unsealedDays[0]!;
      const damage = sealFirstDay(series, tables);
      if (damage === undefined) sealed.push({ assetKey, day });
      else onDamage(damage);
      sealsLeft--;
    }
    const dayEnd = Math.min(cutoffs.day, series.unsealedDays[0] ?? today);
    while (daysLeft > 0 && series.firstDay !== undefined && series.firstDay < dayEnd) {
      tables.days.remove([series.assetKey, series.firstDay]);
      tables.quarters.remove([series.assetKey, series.firstDay]);
      series.firstDay++;
      daysLeft--;
    }
  }
  return sealed;
}

/** Repeats in memory the housekeeping that the writing thread does on disk. Seals the same days. */
export function followHousekeeping(
  allSeries: Iterable<AssetSeries>,
  { second, day }: Cutoffs,
  sealed: readonly SealedDay[],
  tables: OpenTables,
): void {
  for (const series of allSeries) {
    let old = 0;
    while (old + 1 < series.seconds.length && series.seconds[old + 1]! <= second) old++;
    if (old > 0) series.seconds.splice(0, old);
    while (sealed.some((one) => one.assetKey === series.assetKey && one.day === series.unsealedDays[0]))
      if (sealFirstDay(series, tables) !== undefined) break;
    const end = Math.min(day, series.unsealedDays[0] ?? runningDay(series) ?? 0);
    if (series.firstDay !== undefined && series.firstDay < end) series.firstDay = end;
  }
}

/** Returns the sealed days of an asset. Each sealed day with candles has one record. */
export function sealedDays(series: AssetSeries): Days {
  const first = series.firstDay ?? 0;
  return { first, end: Math.max(first, series.unsealedDays[0] ?? runningDay(series) ?? first) };
}

/**
 * Returns the day that has not ended yet. An asset has no running minute in two cases: the asset is not configured, and therefore not
 * loaded, or the asset only received candles of another store. In both cases the stored hours and days are enough.
 */
function runningDay({ newest, unsealedDays, lastSealedDay }: AssetSeries): number | undefined {
  if (newest?.minute !== undefined) return dayOfMinute(newest.minute.minute);
  return unsealedDays.at(-1) ?? (lastSealedDay === undefined ? undefined : lastSealedDay + 1);
}

/**
 * Moves the minutes of a finished day from its hours into a single record, and writes their quarter hours into another
 * record.
 */
function sealFirstDay(series: AssetSeries, tables: OpenTables): DamagedRecord | undefined {
  const day = series.unsealedDays[0]!;
  const hours = Array.from({ length: HOURS_PER_DAY }, (_, hourOfDay) => day * HOURS_PER_DAY + hourOfDay);
  const minutes = CandleBlock.withRoomFor(MINUTES_PER_DAY);
  try {
    for (const [hourOfDay, hour] of hours.entries()) {
      const block = minutesOf(series, hour, tables);
      if (block !== undefined) minutes.pushBlock(block, hourOfDay * MINUTES_PER_HOUR);
    }
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    series.isSealingStopped = true;
    return error;
  }
  tables.days.put([series.assetKey, day], minutes);
  tables.quarters.put([series.assetKey, day], minutes.coarser(MINUTES_PER_QUARTER));
  for (const hour of hours) tables.hours.remove([series.assetKey, hour]);
  series.unsealedDays.shift();
  // The store may already have later days from other nodes.
  series.lastSealedDay = Math.max(day, series.lastSealedDay ?? day);
  return undefined;
}
