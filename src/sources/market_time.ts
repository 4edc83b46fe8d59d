import { NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?\d*(?:Z|([+-])(\d\d):?(\d\d))$/;
const MILLISECONDS = /^\d{13}$/;
const MICROSECONDS = /^\d{16}$/;

/** The largest difference between a market's time and the time of receipt. */
export const CLOCK_OFFSET_MAX_NS = 5n * NS_PER_SECOND;

/** A quote's time, and the offset of the market's clock if the offset is too large. */
export interface QuoteTime {
  readonly timeNs: TimeNs;
  /** The market's time minus the time of receipt, only when it exceeds {@link CLOCK_OFFSET_MAX_NS}. */
  readonly offsetNs: bigint | undefined;
}

/**
 * Returns the market's time if it is within 5 s of the time of receipt; otherwise the time of receipt. A quote is never from the future.
 */
export function quoteTime(marketNs: bigint | undefined, receivedNs: TimeNs): QuoteTime {
  if (marketNs === undefined) return { timeNs: receivedNs, offsetNs: undefined };
  const offsetNs = marketNs - receivedNs;
  if (offsetNs > CLOCK_OFFSET_MAX_NS || offsetNs < -CLOCK_OFFSET_MAX_NS)
    return { timeNs: receivedNs, offsetNs };
  return { timeNs: offsetNs > 0n ? receivedNs : (marketNs as TimeNs), offsetNs: undefined };
}

/** Reads an RFC 3339 time to the nanosecond; `undefined` for any other text. */
export function parseRfc3339(text: unknown): bigint | undefined {
  const match = typeof text === 'string' ? RFC_3339.exec(text) : null;
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, aheadHours, aheadMinutes] = match;
  const days = daysSince1970(Number(year), Number(month), Number(day));
  const ahead =
    sign === undefined ? 0 : Number(`${sign}1`) * (Number(aheadHours) * 60 + Number(aheadMinutes));
  const minutes = days * 1440 + Number(hour) * 60 + Number(minute) - ahead;
  return BigInt(minutes * 60 + Number(second)) * NS_PER_SECOND + BigInt(fraction.padEnd(9, '0'));
}

/** Reads milliseconds since 1970. */
export function parseMilliseconds(text: unknown): bigint | undefined {
  return typeof text === 'string' && MILLISECONDS.test(text) ? BigInt(text) * NS_PER_MS : undefined;
}

/** Reads microseconds since 1970. */
export function parseMicroseconds(text: unknown): bigint | undefined {
  return typeof text === 'string' && MICROSECONDS.test(text) ? BigInt(text) * 1_000n : undefined;
}

/** Counts days of the Gregorian calendar. The year used here begins in March, so a leap day is the last day of a year. */
function daysSince1970(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const marchMonth = (month + 9) % 12;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + Math.floor((marchMonth * 153 + 2) / 5) + day - 719_469;
}
