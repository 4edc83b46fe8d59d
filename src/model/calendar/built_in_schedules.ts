import type { Temporal } from 'temporal-polyfill';
import { MARKET_AFTER_HOURS, MARKET_EXTENDED, MARKET_REGULAR } from '../../wire/market_status_codes.js';
import type { BUILT_IN_CALENDARS } from './definition.js';
import { isMetalsHoliday, metalsHaltMin } from './metals_days.js';
import { MINUTES_PER_DAY, type TradingSchedule } from './schedule.js';
import type { Session } from './trading_hours.js';
import { isNyseEarlyClose, isNyseHoliday } from './us_holidays.js';

const TIME_ZONE = 'America/New_York';

/** Returns a week with the same sessions from Monday to Friday. */
function fiveDays(...sessions: Session[]): readonly (readonly Session[])[] {
  return [sessions, sessions, sessions, sessions, sessions, [], []];
}

function minuteAt(hour: number, minute = 0): number {
  return hour * 60 + minute;
}

/** The stock market of New York. The current hours are used for every year. */
const usEquities: TradingSchedule = {
  timeZone: TIME_ZONE,
  week: fiveDays(
    { fromMin: minuteAt(4), toMin: minuteAt(9, 30), status: MARKET_EXTENDED },
    { fromMin: minuteAt(9, 30), toMin: minuteAt(16), status: MARKET_REGULAR },
    { fromMin: minuteAt(16), toMin: minuteAt(20), status: MARKET_AFTER_HOURS },
  ),
  isHoliday: isNyseHoliday,
  earlyCloseMin: (date) => (isNyseEarlyClose(date) ? minuteAt(13) : undefined),
  closures: new Set(),
  earlyCloseMins: new Map(),
  lateOpenMins: new Map(),
};

/**
 * A trading day begins at 17:00 on the evening before its date and ends when the next trading day begins. Therefore the market is open
 * from Sunday to Friday.
 */
const forex: TradingSchedule = {
  timeZone: TIME_ZONE,
  week: fiveDays({ fromMin: minuteAt(17) - MINUTES_PER_DAY, toMin: minuteAt(17), status: MARKET_REGULAR }),
  isHoliday: isChristmasOrNewYear,
  earlyCloseMin: () => undefined,
  closures: new Set(),
  earlyCloseMins: new Map(),
  lateOpenMins: new Map(),
};

/**
 * The schedule of forex, except that each trading day begins an hour later, so the market has a daily break of an hour. Its holidays are those
 * of the futures of CME.
 */
const metals: TradingSchedule = {
  ...forex,
  week: fiveDays({ fromMin: minuteAt(18) - MINUTES_PER_DAY, toMin: minuteAt(17), status: MARKET_REGULAR }),
  isHoliday: isMetalsHoliday,
  earlyCloseMin: metalsHaltMin,
};

export const BUILT_IN_SCHEDULES: Readonly<Record<(typeof BUILT_IN_CALENDARS)[number], TradingSchedule>> = {
  us_equities: usEquities,
  forex,
  metals,
};

function isChristmasOrNewYear({ month, day }: Temporal.PlainDate): boolean {
  return (month === 12 && day === 25) || (month === 1 && day === 1);
}
