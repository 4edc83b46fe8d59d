import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';

/** The time that a market gives: nanoseconds since 1970, `undefined` without a time, or `unreadable` for any other text. */
export type OwnTime = bigint | 'unreadable' | undefined;

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?\d*(?:Z|([+-])(\d\d):?(\d\d)))?$/;
const MILLISECONDS = /^\d{13}$/;
const MICROSECONDS = /^\d{16}$/;
/** The number of digits of a time in nanoseconds since 1970. */
const NS_DIGITS = 19;
/** A time since 1970 in seconds, milliseconds, microseconds or nanoseconds, perhaps with decimals. */
const DIGITS = /^(\d{10}(?:\d{3}){0,3})(?:\.(\d{1,40}))?$/;

/** Reads an RFC 3339 time to the nanosecond. A date without a time is its first instant in UTC. */
export function parseRfc3339(text: unknown): OwnTime {
  if (text === undefined || text === null) return undefined;
  const match = typeof text === 'string' ? RFC_3339.exec(text) : null;
  if (match === null) return 'unreadable';
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] = match;
  const [sign, aheadHours = '0', aheadMinutes = '0'] = match.slice(8);
  if (!isDay(Number(year), Number(month), Number(day))) return 'unreadable';
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return 'unreadable';
  const ahead = (sign === '-' ? -1 : 1) * (Number(aheadHours) * 60 + Number(aheadMinutes));
  const days = daysSince1970(Number(year), Number(month), Number(day));
  const minutes = days * 1440 + Number(hour) * 60 + Number(minute) - ahead;
  return BigInt(minutes * 60 + Number(second)) * NS_PER_SECOND + BigInt(fraction.padEnd(9, '0'));
}

/** Reads seconds to nanoseconds since 1970, whose number of digits before the point determines the unit, or RFC 3339. */
export function parseAnyTime(text: unknown): OwnTime {
  const [, whole, decimals = ''] = (typeof text === 'string' && DIGITS.exec(text)) || [];
  if (whole === undefined) return parseRfc3339(text);
  return BigInt((whole + decimals).padEnd(NS_DIGITS, '0').slice(0, NS_DIGITS));
}

/** Reads milliseconds since 1970. */
export function parseMilliseconds(value: unknown): OwnTime {
  return parseWhole(value, MILLISECONDS, NS_PER_MS);
}

/** Reads microseconds since 1970. */
export function parseMicroseconds(value: unknown): OwnTime {
  return parseWhole(value, MICROSECONDS, 1_000n);
}

function parseWhole(value: unknown, form: RegExp, unitNs: bigint): OwnTime {
  if (value === undefined || value === null) return undefined;
  const text = String(value);
  return form.test(text) ? BigInt(text) * unitNs : 'unreadable';
}

const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function isDay(year: number, month: number, day: number): boolean {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : DAYS_OF_MONTH[month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

/** Counts days of the Gregorian calendar. The year used here begins in March, so a leap day is the last day of a year. */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const marchMonth = (month + 9) % 12;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + Math.floor((marchMonth * 153 + 2) / 5) + day - 719_469;
}
