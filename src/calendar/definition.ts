import { z } from 'zod';

/** The calendars that need no definition; a definition under one of these names adds closures to it. */
export const BUILT_IN_CALENDARS = ['us_equities', 'forex', 'metals'] as const;

const date = z.iso.date();
/** A wall-clock time of the calendar's zone; `24:00` is the end of the day. */
const timeOfDay = z
  .string()
  .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, 'expected a time of day like "09:30"');
const weekday = z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);

const session = z.strictObject({
  /** The days on which the session begins. */
  days: z.array(weekday).min(1),
  from: timeOfDay,
  /** Not after `from`: the session ends on the following day. */
  to: timeOfDay,
  status: z.enum(['regular', 'extended', 'after_hours']),
});

/**
 * A calendar of the configuration's `calendars`: sessions of its own, or additions to a built-in calendar. A session belongs to
 * the trading day on whose date it begins. Only the trading days of `forex` and `metals` begin on the evening before their date:
 * the trading day of Monday begins on Sunday.
 */
export const calendarDefinition = z.strictObject({
  /** An IANA name such as `Asia/Tokyo`; required with `sessions`, refused for a built-in calendar. */
  time_zone: z.string().optional(),
  /** Sessions may not overlap. They may not make a week of one status: that is the calendar `none`. */
  sessions: z.array(session).min(1).optional(),
  /** Dates of trading days on which the market does not open; other dates have no effect. */
  closures: z.array(date).default([]),
  /**
   * Trading days on which regular hours end early: date to time of day, the first such time after regular hours begin. It
   * overrides a built-in early close. Sessions that begin before the usual close end at the early one; those after it move
   * forward with it and keep their length: with 13:00 instead of 16:00, US after hours end at 17:00.
   */
  early_closes: z.record(date, timeOfDay).default({}),
});

export type CalendarDefinition = z.infer<typeof calendarDefinition>;
