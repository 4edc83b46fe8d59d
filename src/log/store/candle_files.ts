import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetName } from '../../model/asset_map.js';
import {
  type CandleMonth,
  type CandleUnit,
  candleFolderName,
  minutesOf,
  monthOfDay,
  monthOfName,
  perDay,
  ROW_BYTES,
  readRow,
  rowPosition,
  rowState,
  seedOf,
} from './candle_rows.js';

/** A range of days since 1970. `end` is not included. */
export interface Days {
  readonly first: number;
  readonly end: number;
}

/** Receives a candle. Its number counts candles of its length since 1970; `minutes` is the number of minutes in it. */
export type OnCandle = (
  number: number,
  open: number,
  high: number,
  low: number,
  close: number,
  minutes: number,
) => void;

/** The rows of one read: a day of minutes, or fifteen days of quarter hours. */
const ROWS_AT_ONCE = 1_440;
/** The largest number of files whose damage is reported. */
const REPORTED_MAX = 1_000;
const UNIT_S: Readonly<Record<CandleUnit, number>> = { minute: 60, quarter: 900 };

/**
 * Reads the candles of assets: one file for each asset and month, with a row for each minute and quarter hour. Any thread may read while
 * another thread writes. A damaged row is left out and reported.
 */
export class CandleFiles {
  readonly #dir: string;
  readonly #onDamage: (reason: string) => void;
  readonly #reportedFiles = new Set<string>();
  readonly #rows = Buffer.alloc(ROWS_AT_ONCE * ROW_BYTES);
  readonly #row = Buffer.alloc(ROW_BYTES);

  /**
   * @param dir the folder of all candles
   * @param onDamage called once for each damaged file that a read finds, with one sentence
   */
  constructor(dir: string, onDamage: (reason: string) => void) {
    this.#dir = dir;
    this.#onDamage = onDamage;
  }

  /** Reads the candles from number `first` up to, but not including, number `end`, ascending. */
  read(asset: AssetName, unit: CandleUnit, first: number, end: number, onCandle: OnCandle): void {
    this.readIn(candleFolderName(asset), unit, first, end, onCandle);
  }

  /** Reads candles like {@link read}, from the folder with this name. */
  readIn(name: string, unit: CandleUnit, first: number, end: number, onCandle: OnCandle): void {
    const seed = seedOf(name, unit);
    const days = perDay(unit);
    for (let at = first; at < end; ) {
      const month = monthOfDay(Math.floor(at / days));
      const stop = Math.min(end, month.endDay * days);
      this.#readMonth(name, { month, unit, seed, first: at, end: stop }, onCandle);
      at = stop;
    }
  }

  /** Returns the days from the first candle to the last candle on disk; `undefined` without candles. */
  days(asset: AssetName): Days | undefined {
    const months = this.monthsIn(candleFolderName(asset));
    const first = firstFound(months, (month) => this.#daysIn(asset, month)?.first);
    const end = firstFound(months.reverse(), (month) => this.#daysIn(asset, month)?.end);
    return first === undefined || end === undefined ? undefined : { first, end };
  }

  /** Returns the names of the folders with the candles of an asset. */
  folders(): string[] {
    return namesIn(this.#dir);
  }

  /** Returns the months in the folder with this name, ascending. */
  monthsIn(name: string): CandleMonth[] {
    const months = namesIn(join(this.#dir, name)).flatMap((one) => monthOfName(one) ?? []);
    return months.sort((a, b) => a.firstDay - b.firstDay);
  }

  pathOf(name: string, month: CandleMonth): string {
    return join(this.#dir, name, month.name);
  }

  #daysIn(asset: AssetName, { firstDay, endDay }: CandleMonth): Days | undefined {
    const quarters = perDay('quarter');
    let first: number | undefined;
    let last = 0;
    this.read(asset, 'quarter', firstDay * quarters, endDay * quarters, (number) => {
      first ??= number;
      last = number;
    });
    return first === undefined
      ? undefined
      : { first: Math.floor(first / quarters), end: Math.floor(last / quarters) + 1 };
  }

  #readMonth(name: string, span: MonthSpan, onCandle: OnCandle): void {
    const path = this.pathOf(name, span.month);
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    try {
      for (let at = span.first; at < span.end; at += ROWS_AT_ONCE) {
        const count = Math.min(ROWS_AT_ONCE, span.end - at);
        this.#readRows(file, path, { ...span, first: at, end: at + count }, onCandle);
      }
    } finally {
      closeSync(file);
    }
  }

  #readRows(
    file: number,
    path: string,
    { month, unit, seed, first, end }: MonthSpan,
    onCandle: OnCandle,
  ): void {
    const position = rowPosition(unit, first, month);
    const wanted = (end - first) * ROW_BYTES;
    const size = readSync(file, this.#rows, 0, wanted, position);
    if (size < wanted) this.#reportDamage(path, 'it is cut off');
    for (let at = 0, number = first; at + ROW_BYTES <= size; at += ROW_BYTES, number++) {
      let rows: Buffer = this.#rows;
      let place = at;
      let state = rowState(rows, place, seed, number);
      if (state === 'empty') continue;
      if (state === 'damaged') {
        // Another thread may have been writing the row.
        readSync(file, this.#row, 0, ROW_BYTES, position + at);
        [rows, place] = [this.#row, 0];
        state = rowState(rows, place, seed, number);
      }
      if (state === 'whole') {
        const { open, high, low, close } = readRow(rows, place);
        onCandle(number, open, high, low, close, minutesOf(rows, place));
      } else if (state === 'damaged') {
        const time = new Date(number * UNIT_S[unit] * 1000).toISOString().slice(0, 'YYYY-MM-DDThh:mm'.length);
        this.#reportDamage(
          path,
          `the checksum of the candle of ${time} does not fit; the disk may be failing`,
        );
      }
    }
  }

  #reportDamage(path: string, reason: string): void {
    if (this.#reportedFiles.has(path) || this.#reportedFiles.size >= REPORTED_MAX) return;
    this.#reportedFiles.add(path);
    this.#onDamage(`${path} is damaged: ${reason}`);
  }
}

/** A part of a month. */
interface MonthSpan {
  readonly month: CandleMonth;
  readonly unit: CandleUnit;
  readonly seed: number;
  readonly first: number;
  readonly end: number;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns the first result that is not `undefined`. */
function firstFound<T, R>(values: readonly T[], find: (value: T) => R | undefined): R | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
