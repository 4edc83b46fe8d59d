import type { Temporal } from 'temporal-polyfill';

const MONDAY = 1;
const THURSDAY = 4;
const FRIDAY = 5;

/** Closures that follow no rule, from NYSE's announcements. */
const NYSE_ONE_OFF_CLOSURES: ReadonlySet<string> = new Set([
  // The attacks of 11 September.
  '2001-09-11',
  '2001-09-12',
  '2001-09-13',
  '2001-09-14',
  // The mourning days of Presidents Reagan and Ford.
  '2004-06-11',
  '2007-01-02',
  // Hurricane Sandy.
  '2012-10-29',
  '2012-10-30',
  // The mourning days of Presidents Bush and Carter.
  '2018-12-05',
  '2025-01-09',
]);

/**
 * Returns whether NYSE is closed on a weekday: on the holidays of Rule 7.2, and on past one-off closures. The answers match the
 * exchange from 1998 on, the first year with Martin Luther King Day. Future years follow the rule.
 */
export function isNyseHoliday(date: Temporal.PlainDate): boolean {
  return (
    isMondayHoliday(date) ||
    isThanksgiving(date) ||
    isGoodFriday(date) ||
    isFixedHolidayObserved(date) ||
    NYSE_ONE_OFF_CLOSURES.has(date.toString())
  );
}

/**
 * Returns whether NYSE closes at 13:00: on the day before Independence Day, on the day after Thanksgiving, and on Christmas Eve. If
 * the day before a holiday is a Friday, that Friday is the observed holiday. If it is a Sunday, no other day closes early. The
 * answers match the exchange from 2004 on. Before 2004 a Friday after the holiday could also close early.
 */
export function isNyseEarlyClose(date: Temporal.PlainDate): boolean {
  const eve = (date.month === 7 && date.day === 3) || (date.month === 12 && date.day === 24);
  if (eve) return date.dayOfWeek <= THURSDAY;
  return isDayAfterThanksgiving(date);
}

export function isGoodFriday(date: Temporal.PlainDate): boolean {
  if (date.dayOfWeek !== FRIDAY || date.month < 3 || date.month > 4) return false;
  const easter = easterSunday(date.year);
  const sunday = date.add({ days: 2 });
  return sunday.month === easter.month && sunday.day === easter.day;
}

/** Recognises Labor Day. */
export function isLaborDay({ month, day, dayOfWeek }: Temporal.PlainDate): boolean {
  return month === 9 && dayOfWeek === MONDAY && day <= 7;
}

/** Recognises the day after Thanksgiving. */
export function isDayAfterThanksgiving(date: Temporal.PlainDate): boolean {
  return date.dayOfWeek === FRIDAY && isThanksgiving(date.subtract({ days: 1 }));
}

/** Recognises Martin Luther King Day, Washington's Birthday, Memorial Day and Labor Day. */
export function isMondayHoliday(date: Temporal.PlainDate): boolean {
  if (date.dayOfWeek !== MONDAY) return false;
  const third = date.day >= 15 && date.day <= 21;
  switch (date.month) {
    case 1:
      return third && date.year >= 1998;
    case 2:
      return third;
    case 5:
      return date.day >= 25;
    case 9:
      return isLaborDay(date);
    default:
      return false;
  }
}

export function isThanksgiving(date: Temporal.PlainDate): boolean {
  return date.month === 11 && date.dayOfWeek === THURSDAY && date.day >= 22 && date.day <= 28;
}

/**
 * Recognises a holiday of a fixed date. The holiday is on that date. If the date is a Sunday, the holiday is on the Monday after.
 * If the date is a Saturday, the holiday is on the Friday before. New Year's Day on a Saturday has no holiday, because the Friday
 * before ends the accounting year and the exchange stays open.
 */
export function isFixedHolidayObserved(date: Temporal.PlainDate): boolean {
  if (isFixedHoliday(date)) return true;
  if (date.dayOfWeek === MONDAY) return isFixedHoliday(date.subtract({ days: 1 }));
  if (date.dayOfWeek !== FRIDAY) return false;
  const saturday = date.add({ days: 1 });
  return saturday.month !== 1 && isFixedHoliday(saturday);
}

function isFixedHoliday({ year, month, day }: Temporal.PlainDate): boolean {
  switch (month) {
    case 1:
      return day === 1;
    case 6:
      return day === 19 && year >= 2022;
    case 7:
      return day === 4;
    case 12:
      return day === 25;
    default:
      return false;
  }
}

/** Returns Easter Sunday of the Gregorian calendar, by the algorithm of Meeus, Jones and Butcher. */
function easterSunday(year: number): { month: number; day: number } {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = Math.floor(b / 4);
  const e = b % 4;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - d - g + 15) % 30;
  const i = Math.floor(c / 4);
  const k = c % 4;
  const l = (32 + 2 * e + 2 * i - h - k) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return { month: Math.floor(n / 31), day: (n % 31) + 1 };
}
