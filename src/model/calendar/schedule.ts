import { strict as assert } from 'node:assert';
import type { Temporal } from 'temporal-polyfill';
import { MARKET_REGULAR } from '../../wire/market_status_codes.js';
import type { Session, Span, TradingHours } from './trading_hours.js';

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
  /** Trading days on which the operator lets regular hours begin late. */
  readonly lateOpenMins: ReadonlyMap<string, number>;
}

/** Returns the sessions of one trading day, in order. The list is empty when the market does not open. */
export function sessionsOn(schedule: TradingSchedule, date: Temporal.PlainDate): readonly Session[] {
  const day = date.toString();
  if (schedule.closures.has(day) || schedule.isHoliday(date)) return [];
  const usual = usualSessionsOn(schedule, date);
  if (usual.length === 0) return usual;
  const openMin = schedule.lateOpenMins.get(day);
  const sessions = openMin === undefined ? usual : openedLate(usual, openMin);
  assert(sessions !== undefined, 'late opens are checked when the calendar is made');
  const closeMin = schedule.earlyCloseMins.get(day) ?? schedule.earlyCloseMin(date);
  if (closeMin === undefined) return sessions;
  const closed = closedEarly(sessions, closeMin);
  assert(closed !== undefined, 'early closes are checked when the calendar is made');
  return closed;
}

/** Returns the usual sessions of `date`'s weekday, even if `date` is a holiday. */
export function usualSessionsOn(schedule: TradingSchedule, date: Temporal.PlainDate): readonly Session[] {
  const day = date.toString();
  const earlier = schedule.earlierWeeks?.findLast(({ until }) => day < until);
  return (earlier?.week ?? schedule.week)[date.dayOfWeek - 1]!;
}

/**
 * Returns the sessions of a trading day whose regular hours begin late. Other sessions stay.
 * @param openMin a time of day: the first such time after regular hours usually begin
 * @returns `undefined` when `openMin` is not within regular hours.
 */
export function openedLate(sessions: readonly Session[], openMin: number): Session[] | undefined {
  const regular = regularHoursOf(sessions);
  const startMin = regular && timeAfter(regular.fromMin, openMin);
  if (startMin === undefined || startMin >= regular!.toMin) return undefined;
  return sessions.flatMap((session) => {
    if (session.status !== MARKET_REGULAR) return session;
    return session.toMin > startMin ? { ...session, fromMin: Math.max(session.fromMin, startMin) } : [];
  });
}

/** Returns the beginning and the end of the regular hours of a trading day. */
function regularHoursOf(sessions: readonly Session[]): Span | undefined {
  const regular = sessions.filter((session) => session.status === MARKET_REGULAR);
  const [first, last] = [regular[0], regular.at(-1)];
  return first && { fromMin: first.fromMin, toMin: last!.toMin };
}

/** Returns the first minute after `fromMin` that has a time of day. */
function timeAfter(fromMin: number, timeOfDay: number): number {
  let min = timeOfDay - MINUTES_PER_DAY;
  while (min <= fromMin) min += MINUTES_PER_DAY;
  return min;
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
  const regular = regularHoursOf(sessions);
  const endMin = regular && timeAfter(regular.fromMin, closeMin);
  if (endMin === undefined || endMin >= regular!.toMin) return undefined;
  const movedMin = regular!.toMin - endMin;
  return sessions.flatMap(({ fromMin, toMin, status }) => {
    if (fromMin >= regular!.toMin) return { fromMin: fromMin - movedMin, toMin: toMin - movedMin, status };
    return fromMin < endMin ? { fromMin, toMin: Math.min(toMin, endMin), status } : [];
  });
}
