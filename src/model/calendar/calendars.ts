import { Temporal } from 'temporal-polyfill';
import { MARKET_AFTER_HOURS, MARKET_EXTENDED, MARKET_REGULAR } from '../../wire/market_status_codes.js';
import { BUILT_IN_SCHEDULES } from './built_in_schedules.js';
import type { CalendarDefinition } from './definition.js';
import {
  closedEarly,
  MINUTES_PER_DAY,
  openedLate,
  type TradingSchedule,
  usualSessionsOn,
} from './schedule.js';
import type { Calendar } from './status.js';
import { createCalendar } from './timeline.js';
import type { OpenStatus, Session } from './trading_hours.js';

/** An error in a definition. The path of the error begins with the calendar's name. */
export interface CalendarError {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The calendars by name. A calendar with an error in its definition is missing. */
export interface CalendarSet {
  readonly calendars: ReadonlyMap<string, Calendar>;
  readonly errors: readonly CalendarError[];
}

/** The value of an asset's `calendar` for an asset that trades around the clock. No calendar may have this name. */
const NO_CALENDAR = 'none';
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const MINUTES_PER_WEEK = 7 * MINUTES_PER_DAY;
const STATUS_CODES: Readonly<Record<'regular' | 'extended' | 'after_hours', OpenStatus>> = {
  regular: MARKET_REGULAR,
  extended: MARKET_EXTENDED,
  after_hours: MARKET_AFTER_HOURS,
};
/**
 * The form of a time zone's name. The form is checked because Temporal also accepts an offset such as `+09:00` and
 * a date with a zone.
 */
const ZONE_NAME = /^[A-Za-z][\w+\-/]*$/;

/** Returns the built-in calendars with the operator's additions, and the calendars that the operator defines. */
export function createCalendars(definitions: Readonly<Record<string, CalendarDefinition>>): CalendarSet {
  const calendars = new Map<string, Calendar>();
  const errors: CalendarError[] = [];
  for (const [name, schedule] of Object.entries(BUILT_IN_SCHEDULES)) {
    calendars.set(name, createCalendar(name, schedule));
  }
  for (const [name, definition] of Object.entries(definitions)) {
    const found: CalendarError[] = [];
    const report = (path: readonly (string | number)[], message: string): void => {
      found.push({ path: [name, ...path], message });
    };
    const base = isBuiltIn(name)
      ? builtInSchedule(name, definition, report)
      : ownSchedule(name, definition, report);
    const schedule = base && withExceptions(base, definition, report);
    if (schedule !== undefined && found.length === 0) calendars.set(name, createCalendar(name, schedule));
    else calendars.delete(name);
    errors.push(...found);
  }
  return { calendars, errors };
}

type SessionDefinitions = NonNullable<CalendarDefinition['sessions']>;
type ReportProblem = (path: readonly (string | number)[], message: string) => void;

type BuiltInName = keyof typeof BUILT_IN_SCHEDULES;

function isBuiltIn(name: string): name is BuiltInName {
  return Object.hasOwn(BUILT_IN_SCHEDULES, name);
}

function builtInSchedule(
  name: BuiltInName,
  definition: CalendarDefinition,
  report: ReportProblem,
): TradingSchedule {
  for (const key of ['time_zone', 'sessions'] as const) {
    if (definition[key] !== undefined) {
      report(
        [key],
        'this calendar is built in: only closures, early_closes and late_opens can be added to it',
      );
    }
  }
  return BUILT_IN_SCHEDULES[name];
}

function ownSchedule(
  name: string,
  definition: CalendarDefinition,
  report: ReportProblem,
): TradingSchedule | undefined {
  if (name === NO_CALENDAR)
    report([], `"${NO_CALENDAR}" means trading around the clock: choose another name`);
  const { time_zone: timeZone, sessions } = definition;
  if (timeZone === undefined) report(['time_zone'], 'required: an IANA name such as "Asia/Tokyo"');
  else if (!isTimeZone(timeZone)) report(['time_zone'], `no IANA time zone is named "${timeZone}"`);
  if (sessions === undefined) report(['sessions'], 'required: without sessions the market would never open');
  if (timeZone === undefined || sessions === undefined) return undefined;
  return {
    timeZone,
    ...weeksOf(sessions, report),
    isHoliday: () => false,
    earlyCloseMin: () => undefined,
    closures: new Set(),
    earlyCloseMins: new Map(),
    lateOpenMins: new Map(),
  };
}

function isTimeZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the hours of a calendar, and its earlier hours. */
function weeksOf(
  definitions: SessionDefinitions,
  report: ReportProblem,
): Pick<TradingSchedule, 'week' | 'earlierWeeks'> {
  const begins = [...new Set(definitions.map(({ since = '' }) => since))].sort().reverse();
  if (begins.at(-1) !== '') report(['sessions'], 'required: sessions without since, for the time before');
  const weeks = begins.map((begin) => weekOf(definitions, begin, report));
  return {
    week: weeks[0]!,
    earlierWeeks: weeks.slice(1).map((week, i) => ({ until: begins[i]!, week })),
  };
}

/** Returns the sessions of each weekday that begin to apply on a day, Monday first. */
function weekOf(definitions: SessionDefinitions, begin: string, report: ReportProblem): Session[][] {
  const week: Session[][] = WEEKDAYS.map(() => []);
  const placed: PlacedSession[] = [];
  for (const [index, { days, from, to, status, since = '' }] of definitions.entries()) {
    if (since !== begin) continue;
    const fromMin = minutesOf(from);
    const toMin = minutesOf(to) + (minutesOf(to) > fromMin ? 0 : MINUTES_PER_DAY);
    // A session over midnight is a part of the trading day on which it ends.
    const dayAfter = toMin > MINUTES_PER_DAY ? 1 : 0;
    const movedMin = dayAfter * MINUTES_PER_DAY;
    for (const day of days) {
      const weekday = WEEKDAYS.indexOf(day);
      const mondayMin = weekday * MINUTES_PER_DAY;
      const session = { fromMin, toMin, status: STATUS_CODES[status] };
      week[(weekday + dayAfter) % WEEKDAYS.length]!.push({
        ...session,
        fromMin: fromMin - movedMin,
        toMin: toMin - movedMin,
      });
      placed.push({ ...session, fromMin: mondayMin + fromMin, toMin: mondayMin + toMin, index });
    }
  }
  for (const day of week) day.sort((a, b) => a.fromMin - b.fromMin);
  checkWeek(placed, report);
  return week;
}

/** A session in minutes from the start of Monday, and its place in the configuration's list. */
interface PlacedSession extends Session {
  readonly index: number;
}

/**
 * Reports sessions that overlap. Also reports a week whose status never changes, because such a calendar has no
 * next change.
 */
function checkWeek(placed: PlacedSession[], report: ReportProblem): void {
  placed.sort((a, b) => a.fromMin - b.fromMin);
  let openMin = 0;
  for (const [place, { fromMin, toMin, index }] of placed.entries()) {
    openMin += toMin - fromMin;
    const isLast = place === placed.length - 1;
    const next = placed[isLast ? 0 : place + 1]!;
    if (toMin > next.fromMin + (isLast ? MINUTES_PER_WEEK : 0)) {
      const day = WEEKDAYS[Math.floor(next.fromMin / MINUTES_PER_DAY) % WEEKDAYS.length]!;
      report(['sessions', next.index], `overlaps sessions[${index}] on ${day}`);
    }
  }
  if (openMin === MINUTES_PER_WEEK && placed.every(({ status }) => status === placed[0]!.status)) {
    report(
      ['sessions'],
      `the status never changes: an asset that trades so has the calendar "${NO_CALENDAR}"`,
    );
  }
}

/** Adds the operator's closures, early closes and late opens. Reports closes and opens that do not fall within regular hours. */
function withExceptions(
  base: TradingSchedule,
  { closures, early_closes, late_opens }: CalendarDefinition,
  report: ReportProblem,
): TradingSchedule {
  const closed = new Set(closures);
  const timesOf = (
    key: 'early_closes' | 'late_opens',
    change: (sessions: readonly Session[], min: number, day: string) => Session[] | undefined,
  ): Map<string, number> => {
    const times = new Map<string, number>();
    for (const [day, time] of Object.entries(key === 'early_closes' ? early_closes : late_opens)) {
      const date = Temporal.PlainDate.from(day);
      if (closed.has(day) || base.isHoliday(date)) report([key, day], 'the market does not open on that day');
      else if (change(usualSessionsOn(base, date), minutesOf(time), day) === undefined)
        report([key, day], `${time} is not within the regular hours of that day`);
      times.set(day, minutesOf(time));
    }
    return times;
  };
  const lateOpenMins = timesOf('late_opens', openedLate);
  const earlyCloseMins = timesOf('early_closes', (sessions, min, day) => {
    const openMin = lateOpenMins.get(day);
    const open = openMin === undefined ? sessions : openedLate(sessions, openMin);
    return closedEarly(open ?? sessions, min);
  });
  return { ...base, closures: closed, earlyCloseMins, lateOpenMins };
}

function minutesOf(timeOfDay: string): number {
  const [hour, minute] = timeOfDay.split(':');
  return Number(hour) * 60 + Number(minute);
}
