import { readDecimal } from '../model/decimal.js';
import type { TimeNs } from '../model/time.js';

const NS_PER_UNIT: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
};
const BYTES_PER_UNIT: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/**
 * The largest duration, in nanoseconds. A duration must fit an int64, because durations are added to int64 timestamps and subtracted
 * from them.
 */
const DURATION_NS_MAX = 2n ** 63n - 1n;
const DURATION_TEXT = /^(0|[1-9][0-9]{0,18})(ns|us|ms|s|m|h|d)$/;
const SIZE_TEXT = /^(0|[1-9][0-9]{0,15})(?: ?(B|KiB|MiB|GiB))?$/;
const TIME_TEXT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/**
 * Reads a duration: a whole number and a unit from `ns us ms s m h d`, such as `500ms` or `3650d`.
 * @returns nanoseconds, or `undefined` when the text has another form or the value does not fit an int64
 */
export function parseDurationNs(text: string): bigint | undefined {
  const [, digits, unit] = DURATION_TEXT.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const durationNs = BigInt(digits) * NS_PER_UNIT[unit]!;
  return durationNs > DURATION_NS_MAX ? undefined : durationNs;
}

/**
 * Reads a time in UTC to the second, such as `2026-12-01T00:00:00Z`.
 * @returns `undefined` for another form, a day that does not exist, and a time before 1970
 */
export function parseUtcTime(text: string): TimeNs | undefined {
  const ms = TIME_TEXT.test(text) ? Date.parse(text) : Number.NaN;
  // The parser reads an invalid day, such as February 30, as a day of the next month.
  if (!(ms >= 0) || new Date(ms).toISOString() !== text.replace('Z', '.000Z')) return undefined;
  return (BigInt(ms) * NS_PER_UNIT['ms']!) as TimeNs;
}

/**
 * Reads a size: plain bytes, or a whole number and a unit from `B KiB MiB GiB`, such as `64 KiB`.
 * @returns bytes, or `undefined` when the text has another form or a double cannot hold the value exactly
 */
export function parseSizeBytes(text: string): number | undefined {
  const [, digits, unit = 'B'] = SIZE_TEXT.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const sizeBytes = Number(digits) * BYTES_PER_UNIT[unit]!;
  return Number.isSafeInteger(sizeBytes) ? sizeBytes : undefined;
}

/**
 * Converts a number of the file to an integer: the number's shortest decimal text times 10^decimals, exactly. A multiplication of the
 * double would change 0.07 to 0.07000000000000000666.
 * @returns the scaled integer, or `undefined` when `value` is negative, not finite or has more than `decimals` decimals
 */
export function scaleDecimal(value: number, decimals: number): bigint | undefined {
  const { value: scaled, isExact } = readDecimal(String(value), decimals) ?? {};
  return isExact && scaled! >= 0n ? scaled : undefined;
}
