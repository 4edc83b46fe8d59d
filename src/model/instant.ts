import { NS_PER_MS, NS_PER_SECOND, parseTimeNs } from './time.js';

const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d))?$/;
/** The smallest number of digits of a time in nanoseconds: the number of digits in the year 1973. */
const NS_DIGITS_MIN = 18;
/** UNIX seconds from 1973 to 2286. Other numbers are milliseconds by mistake. */
const SECONDS = /^[1-9]\d{8,9}$/;

/**
 * Reads an instant: a time of RFC 3339, a day (its beginning in UTC), or UNIX seconds or nanoseconds.
 * @returns UNIX nanoseconds; `undefined` for any other text
 */
export function readInstant(text: string): bigint | undefined {
  const plain = text.length >= NS_DIGITS_MIN ? parseTimeNs(text) : undefined;
  if (plain !== undefined) return plain;
  if (SECONDS.test(text)) return BigInt(text) * NS_PER_SECOND;
  const [, day, time = '00:00', fraction = '', zone = 'Z'] = DATE_TIME.exec(text) ?? [];
  const ms = new Date(`${day}T${time}${zone}`).getTime();
  const isDay = new Date(new Date(`${day}T00:00Z`).getTime() || 0).toISOString().startsWith(day ?? '-');
  return Number.isNaN(ms) || ms < 0 || !isDay
    ? undefined
    : BigInt(ms) * NS_PER_MS + BigInt(fraction.padEnd(9, '0'));
}

/** Returns an instant as a time of RFC 3339 with all digits. */
export function instantText(ns: bigint): string {
  const seconds = new Date(Number(ns / NS_PER_SECOND) * 1_000).toISOString().slice(0, 19);
  const fraction = String(ns % NS_PER_SECOND)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${seconds}${fraction && `.${fraction}`}Z`;
}
