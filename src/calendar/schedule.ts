import { strict as assert } from 'node:assert';
import type { Temporal } from 'temporal-polyfill';
import { MARKET_REGULAR } from '../wire/market_status_codes.js';
import type { Session, TradingHours } from './trading_hours.js';

export const MINUTES_PER_DAY = 1440;

/** A market's trading days in its local time, before the times are converted to instants. */
export interface TradingSchedule extends TradingHours {
  /** Returns whether a rule of the market closes it for the trading day of `date`. */
  isHoliday(date: Temporal.PlainDate): boolean;
  /**
   * Returns the time, in minutes from midnight, at which a rule of the market ends regular hours early; `undefined` without such a
   * rule.
   */
  earlyCloseMin(date: Temporal.PlainDate): number | undefined;
  /** Trading days (`YYYY-MM-DD`) that the operator closed. */
  readonly closures: ReadonlySet<string>;
  /** Trading days that the operator shortened. These override the market's own rules. */
  readonly earlyCloseMins: ReadonlyMap<string, number>;
}

/** Returns the sessions of one trading day, in order. The list is empty when the market does not open. */
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

/** Returns the usual sessions of `date`'s weekday, even if `date` is a holiday. */
export function usualSessionsOn(schedule: TradingSchedule, date: Temporal.PlainDate): readonly Session[] {
  return schedule.week[date.dayOfWeek - 1]!;
}

/**
 * Returns the sessions of a trading day whose regular hours end early. Sessions that begin before the usual close end at the early
 * close. Sessions after the usual close begin earlier by the same amount and keep their length. The rule is NYSE's own: with regular
 * hours that end at 13:00 instead of 16:00, after hours last from 13:00 to 17:00 instead of 16:00 to 20:00.
 * @param closeMin a time of day: the first such time after regular hours begin. On a trading day that begins at 17:00 the evening
 * before, 20:00 is on that evening and 13:00 is on the next day.
 * @returns `undefined` when `closeMin` is not within regular hours.
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
