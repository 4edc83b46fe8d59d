/**
 * The reference for the tests of the calendars. The reference computes the clock of New York by arithmetic alone, and walks
 * minute by minute.
 */
import type { Calendar } from '../../../src/model/calendar/status.js';
import type { MarketStatus } from '../../../src/wire/market_status_codes.js';

export const DAY_S = 86_400;

/** Returns the UNIX seconds at which a clock in New York shows `date` (`YYYY-MM-DD`) and `time` (`HH:MM`), from 2007 on. */
export function newYorkS(date: string, time: string): number {
  const asUtcS = Date.parse(`${date}T${time}:00Z`) / 1000;
  const winterS = asUtcS + 5 * 3600;
  return isNewYorkSummer(winterS - 3600) ? winterS - 3600 : winterS;
}

export interface WallTime {
  /** The date as `YYYY-MM-DD`. */
  readonly date: string;
  readonly minuteOfDay: number;
  /** The day of the week, from 0 for Sunday. */
  readonly weekday: number;
}

/** Returns the time on a clock that is `offsetS` ahead of UTC. */
export function wallTime(unixS: number, offsetS: number): WallTime {
  const shown = new Date((unixS + offsetS) * 1000);
  return {
    date: shown.toISOString().slice(0, 10),
    minuteOfDay: shown.getUTCHours() * 60 + shown.getUTCMinutes(),
    weekday: shown.getUTCDay(),
  };
}

export function newYorkTime(unixS: number): WallTime {
  return wallTime(unixS, isNewYorkSummer(unixS) ? -4 * 3600 : -5 * 3600);
}

/** Returns the date that is `days` after `date`. */
export function plusDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00Z`) + days * DAY_S * 1000).toISOString().slice(0, 10);
}

/**
 * Returns whether New York has summer time: from the second Sunday of March to the first Sunday of November, at 02:00, by the
 * Energy Policy Act of 2005.
 */
function isNewYorkSummer(unixS: number): boolean {
  const year = new Date(unixS * 1000).getUTCFullYear();
  const beginsS = sundayS(year, 2, 8) + 7 * 3600;
  const endsS = sundayS(year, 10, 1) + 6 * 3600;
  return unixS >= beginsS && unixS < endsS;
}

/** Returns the UNIX seconds of UTC midnight of the first Sunday on the given day or after it. `month` counts from 0. */
function sundayS(year: number, month: number, day: number): number {
  const first = new Date(Date.UTC(year, month, day));
  return Date.UTC(year, month, day + ((7 - first.getUTCDay()) % 7)) / 1000;
}

/**
 * Walks from the minute of `unixS` to the change that the calendar predicts. Compares the status in each minute with `statusAt`,
 * a slow, independent model of the market.
 * @returns the first difference; `undefined` if there is none
 */
export function disagreement(
  calendar: Calendar,
  unixS: number,
  statusAt: (unixS: number) => MarketStatus,
): string | undefined {
  const { status, nextStatus, changeAtS } = calendar.stateAt(unixS);
  const said = `${calendar.name} at ${unixS} is ${status}, becomes ${nextStatus} at ${changeAtS}`;
  if (changeAtS <= unixS || changeAtS % 60 !== 0) return `${said}: no such change`;
  if (status === nextStatus) return `${said}: not a change`;
  const firstMinuteS = unixS - (unixS % 60);
  for (let minuteS = firstMinuteS; minuteS < changeAtS; minuteS += 60) {
    if (statusAt(minuteS) !== status) return `${said}; but it is ${statusAt(minuteS)} at ${minuteS}`;
  }
  if (statusAt(changeAtS) !== nextStatus) return `${said}; but then it is ${statusAt(changeAtS)}`;
  return undefined;
}

/** Returns a state as a single line of text. */
export function stateText(calendar: Calendar, unixS: number): string {
  const { status, nextStatus, changeAtS } = calendar.stateAt(unixS);
  return `${status} then ${nextStatus} at ${new Date(changeAtS * 1000).toISOString()}`;
}
