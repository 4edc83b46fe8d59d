import { z } from 'zod';

/**
 * The calendars that need no definition. A definition with one of these names adds closures and early closes to the calendar.
 */
export const BUILT_IN_CALENDARS = ['us_equities', 'forex', 'metals'] as const;

const date = z.iso.date();
/** A wall-clock time in the calendar's zone; `24:00` is the end of the day. */
const timeOfDay = z
  .string()
  .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, 'expected a time of day like "09:30"');
const weekday = z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);

const session = z.strictObject({
  /** The days on which the session begins. */
  days: z.array(weekday).min(1),
  from: timeOfDay,
  /** The end of the session. If `to` is not after `from`, the session ends on the following day. */
  to: timeOfDay,
  status: z.enum(['regular', 'extended', 'after_hours']),
  /** The first trading day on which the session applies. From this day on, only the sessions with this date apply. */
  since: date.optional(),
});

/**
 * A calendar of the configuration's `calendars`: either its own sessions, or additions to a built-in calendar. A session belongs
 * to the trading day on whose date it ends: a session over midnight on Sunday is part of the trading day of Monday, as in `forex`
 * and `metals`.
 */
export const calendarDefinition = z.strictObject({
  /** An IANA name such as `Asia/Tokyo`; required with `sessions`, refused for a built-in calendar. */
  time_zone: z.string().optional(),
  /**
   * Sessions may not overlap, and may not give the whole week a single status. An asset that always trades has the calendar `none`.
   */
  sessions: z.array(session).min(1).optional(),
  /** Dates of trading days on which the market does not open. Dates that are not trading days have no effect. */
  closures: z.array(date).default([]),
  /**
   * Trading days on which regular hours end early: a map from date to time of day. The time means the first such time after
   * regular hours begin. An entry overrides a built-in early close. Sessions that begin before the usual close end at the early
   * close. Sessions after the usual close begin earlier by the same amount and keep their length: with 13:00 instead of 16:00,
   * US after hours end at 17:00.
   */
  early_closes: z.record(date, timeOfDay).default({}),
  /** Trading days on which regular hours begin late: a map from date to time of day, as in `early_closes`. Other sessions stay. */
  late_opens: z.record(date, timeOfDay).default({}),
  /** The last day for which the closures and hours are known. Default: the last date of the definition */
  known_until: date.optional(),
});

export type CalendarDefinition = z.infer<typeof calendarDefinition>;
