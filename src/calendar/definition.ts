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

/** One calendar of the configuration's `calendars`: sessions of its own, or additions to a built-in one. */
export const calendarDefinition = z.strictObject({
  /** An IANA name such as `Asia/Tokyo`; required with `sessions`, refused for a built-in calendar. */
  time_zone: z.string().optional(),
  sessions: z.array(session).min(1).optional(),
  /** Trading days, by their date in the calendar's zone, on which the market does not open. */
  closures: z.array(date).default([]),
  /** Trading days on which regular hours end early: date to time of day. */
  early_closes: z.record(date, timeOfDay).default({}),
});

export type CalendarDefinition = z.infer<typeof calendarDefinition>;
