import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AssetName } from '../../model/asset_map.js';
import { DAY_S } from '../../wire/resolution.js';
import type { CandleValues } from '../records/candle.js';

/** The lengths of candles in files. Candles of both lengths are numbered since 1970. */
export type CandleUnit = 'minute' | 'quarter';

export const MINUTES_PER_QUARTER = 15;
const MINUTES_PER_DAY = 1_440;
const QUARTERS_PER_DAY = MINUTES_PER_DAY / MINUTES_PER_QUARTER;
const DAYS_PER_MONTH_MAX = 31;

/**
 * The size of a row: open, high, low and close as doubles, then as uint32 the CRC-32 of these 32 bytes, and the number of minutes in the
 * candle. All numbers are little-endian. A row of zeros is an empty candle. The CRC-32 starts with the value of {@link rowSeed} instead of
 * 0, so a row of another place or file is found.
 */
export const ROW_BYTES = 40;
const VALUES_BYTES = 32;
/** The longest name of a folder. */
const NAME_BYTES_MAX = 255;

/** A month in which an asset has candles. */
export interface CandleMonth {
  /** The name of its file, such as `2026-11`. */
  readonly name: string;
  readonly firstDay: number;
  readonly endDay: number;
}

/** Returns the month of a day since 1970. */
export function monthOfDay(day: number): CandleMonth {
  const date = new Date(day * DAY_S * 1000);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const dayOf = (at: number) => at / 1000 / DAY_S;
  return {
    name: date.toISOString().slice(0, 'YYYY-MM'.length),
    firstDay: dayOf(Date.UTC(year, month, 1)),
    endDay: dayOf(Date.UTC(year, month + 1, 1)),
  };
}

const MONTH_NAME = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** @returns `undefined` for the name of another file */
export function monthOfName(name: string): CandleMonth | undefined {
  return MONTH_NAME.test(name) ? monthOfDay(Date.parse(name) / 1000 / DAY_S) : undefined;
}

export function perDay(unit: CandleUnit): number {
  return unit === 'minute' ? MINUTES_PER_DAY : QUARTERS_PER_DAY;
}

/**
 * Returns the position of a row in the file of its month. Minutes begin at 0, with room for 31 days. Quarter hours follow, because all
 * coarser candles are merged from quarter hours, which are 15 times fewer bytes to read than minutes.
 */
export function rowPosition(unit: CandleUnit, number: number, { firstDay }: CandleMonth): number {
  const first = unit === 'minute' ? 0 : DAYS_PER_MONTH_MAX * MINUTES_PER_DAY;
  return ROW_BYTES * (first + number - firstDay * perDay(unit));
}

/** The size of each file. Rows that were never written take no room on the disk. */
export const MONTH_BYTES = DAYS_PER_MONTH_MAX * (MINUTES_PER_DAY + QUARTERS_PER_DAY) * ROW_BYTES;

/** Returns the name of the folder with the candles of an asset, such as `BTCUSD.evm`. */
export function candleFolderName({ symbol, signatureType }: AssetName): string {
  const name = `${symbol.replace(/[/%\0]/g, encodeURIComponent)}.${signatureType}`;
  if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return name;
  return `${createHash('sha256').update(symbol).digest('hex')}.${signatureType}`;
}

/** Returns the part of the checksums that all rows of a folder and unit share. */
export function seedOf(folderName: string, unit: CandleUnit): number {
  return crc32(`${folderName} ${unit}`);
}

/** Writes a row. */
export function writeRow(
  rows: Buffer,
  at: number,
  { open, high, low, close }: CandleValues,
  minutes: number,
  seed: number,
  number: number,
): void {
  rows.writeDoubleLE(open, at);
  rows.writeDoubleLE(high, at + 8);
  rows.writeDoubleLE(low, at + 16);
  rows.writeDoubleLE(close, at + 24);
  rows.writeUInt32LE(crc32(rows.subarray(at, at + VALUES_BYTES), rowSeed(seed, number, minutes)), at + 32);
  rows.writeUInt32LE(minutes, at + 36);
}

/** Returns the state of a row. */
export function rowState(
  rows: Buffer,
  at: number,
  seed: number,
  number: number,
): 'whole' | 'empty' | 'damaged' {
  const minutes = minutesOf(rows, at);
  if (minutes === 0) return isZero(rows, at) ? 'empty' : 'damaged';
  const sum = crc32(rows.subarray(at, at + VALUES_BYTES), rowSeed(seed, number, minutes));
  return rows.readUInt32LE(at + 32) === sum ? 'whole' : 'damaged';
}

/** Returns the number of minutes in the candle of a row. */
export function minutesOf(rows: Buffer, at: number): number {
  return rows.readUInt32LE(at + 36);
}

export function readRow(rows: Buffer, at: number): CandleValues {
  return {
    open: rows.readDoubleLE(at),
    high: rows.readDoubleLE(at + 8),
    low: rows.readDoubleLE(at + 16),
    close: rows.readDoubleLE(at + 24),
  };
}

/** Returns the start value of a row's checksum. */
function rowSeed(seed: number, number: number, minutes: number): number {
  return (seed ^ (number * 16 + minutes)) >>> 0;
}

function isZero(rows: Buffer, at: number): boolean {
  for (let i = at; i < at + ROW_BYTES; i++) if (rows[i] !== 0) return false;
  return true;
}
