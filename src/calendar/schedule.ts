import { strict as assert } from 'node:assert';
import type { Temporal } from 'temporal-polyfill';
import { MARKET_REGULAR } from '../wire/market_status_codes.js';
import type { OpenStatus } from './status.js';

export const MINUTES_PER_DAY = 1440;

/**
 * A stretch of trading, in wall-clock minutes from the midnight that begins the trading day's date. Negative minutes are the
 * evening before, minutes past 1440 the day after.
 */
export interface Session {
  readonly fromMin: number;
  readonly toMin: number;
  readonly status: OpenStatus;
}

/** A market's trading days in its local time, before they become instants. */
export interface TradingSchedule {
  /** An IANA name. */
  readonly timeZone: string;
  /** The sessions of each weekday's trading day, Monday first, in order; no two sessions overlap anywhere in the week. */
  readonly week: readonly (readonly Session[])[];
  /** Tells whether a rule of the market closes it for the trading day of `date`. */
  isHoliday(date: Temporal.PlainDate): boolean;
  /** Returns the time, in minutes from midnight, at which a rule of the market ends regular hours early. */
  earlyCloseMin(date: Temporal.PlainDate): number | undefined;
  /** Trading days (`YYYY-MM-DD`) that the operator closed. */
  readonly closures: ReadonlySet<string>;
  /** Trading days that the operator shortened; they override the market's own rules. */
  readonly earlyCloseMins: ReadonlyMap<string, number>;
}

/** Returns the sessions of one trading day, in order; none when the market does not open. */
export function sessionsOn(schedule: TradingSchedule, date: Temporal.PlainDate): readonly Session[] {
  const day = date.toString();
  if (schedule.closures.has(day) || schedule.isHoliday(date)) return [];
  const sessions = usualSessionsOn(schedule, date);
  const closeMin = schedule.earlyCloseMins.get(day) ?? schedule.earlyCloseMin(date);
  if (closeMin === undefined) return sessions;
  const closed = closedEarly(sessions, closeMin);
  assert(closed !== undefined, 'early closes are checked when the calendar is made');
  return closed;
}

/** Returns the sessions of `date`'s weekday, holiday or not. */
export function usualSessionsOn(schedule: TradingSchedule, date: Temporal.PlainDate): readonly Session[] {
  return schedule.week[date.dayOfWeek - 1]!;
}

/**
 * Returns the sessions of a trading day whose regular hours end early. Sessions that begin before the usual close end at the
 * early one; those that follow the usual close move forward with it and keep their length. That is NYSE's own rule: with regular
 * hours ending at 13:00 instead of 16:00, after hours last from 13:00 to 17:00 instead of 16:00 to 20:00.
 * @param closeMin a time of day; it means the first such time after regular hours begin, so on a trading day that
 *   begins at 17:00 the evening before, 20:00 is that evening and 13:00 the next noon.
 * @returns `undefined` when that time does not fall within regular hours.
 */
export function closedEarly(sessions: readonly Session[], closeMin: number): Session[] | undefined {
  const regular = sessions.filter((session) => session.status === MARKET_REGULAR);
  const first = regular[0];
  const last = regular.at(-1);
  if (first === undefined || last === undefined) return undefined;
  let endMin = closeMin - MINUTES_PER_DAY;
  while (endMin <= first.fromMin) endMin += MINUTES_PER_DAY;
  if (endMin >= last.toMin) return undefined;
  const movedMin = last.toMin - endMin;
  return sessions.flatMap(({ fromMin, toMin, status }) => {
    if (fromMin >= last.toMin) return { fromMin: fromMin - movedMin, toMin: toMin - movedMin, status };
    return fromMin < endMin ? { fromMin, toMin: Math.min(toMin, endMin), status } : [];
  });
}
