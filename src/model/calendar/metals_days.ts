import type { Temporal } from 'temporal-polyfill';
import {
  isDayAfterThanksgiving,
  isFixedHolidayObserved,
  isGoodFriday,
  isLaborDay,
  isMondayHoliday,
  isThanksgiving,
} from './us_holidays.js';

// The holidays of the metal and energy futures of CME, in New York time.

const DECEMBER = 12;
const JANUARY = 1;

/** Halts that the exchange announced and that follow no rule. */
const ANNOUNCED_HALT_MINS: ReadonlyMap<string, number> = new Map([
  ['2026-06-19', minuteAt(13)],
  ['2026-07-03', minuteAt(13)],
  ['2026-09-07', minuteAt(14, 30)],
  ['2026-11-27', minuteAt(14, 45)],
  ['2026-12-24', minuteAt(13, 45)],
]);

/** The first year in which the market halts at 14:30 instead of 13:00 on holidays. */
const LATER_HALTS_YEAR = 2022;

/** Returns whether the market has no trading day: on Good Friday, Christmas and New Year's Day, observed as NYSE observes them. */
export function isMetalsHoliday(date: Temporal.PlainDate): boolean {
  const isWinter = date.month === DECEMBER || date.month === JANUARY;
  return isGoodFriday(date) || (isWinter && isFixedHolidayObserved(date));
}

/** Returns the time at which the market halts until the next trading day, in minutes from midnight; `undefined` on a whole trading day. */
export function metalsHaltMin(date: Temporal.PlainDate): number | undefined {
  const announcedMin = ANNOUNCED_HALT_MINS.get(date.toString());
  if (announcedMin !== undefined) return announcedMin;
  if (isDayAfterThanksgiving(date)) return minuteAt(13, 45);
  if (isLaborDay(date)) return minuteAt(13);
  const isHalf = isMondayHoliday(date) || isThanksgiving(date) || isFixedHolidayObserved(date);
  if (!isHalf) return undefined;
  return date.year < LATER_HALTS_YEAR ? minuteAt(13) : minuteAt(14, 30);
}

function minuteAt(hour: number, minute = 0): number {
  return hour * 60 + minute;
}
