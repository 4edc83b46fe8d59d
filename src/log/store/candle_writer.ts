import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AssetName } from '../../model/asset_map.js';
import { syncFolder, writeAll } from '../disk/written_file.js';
import type { NumberedCandle } from '../records/candle.js';
import type { CandleFiles } from './candle_files.js';
import {
  type CandleUnit,
  candleFolderName,
  MINUTES_PER_QUARTER,
  MONTH_BYTES,
  monthOfDay,
  monthOfName,
  perDay,
  ROW_BYTES,
  rowPosition,
  seedOf,
  writeRow,
} from './candle_rows.js';

/** A candle with the number of its minutes. */
type Row = { -readonly [Key in keyof NumberedCandle]: NumberedCandle[Key] } & { minutes: number };

/** The unit in which the system counts the room of a file. */
const BLOCK_BYTES = 512;

/** The months that have candles. */
export interface KeptMonths {
  /** The first day of the oldest month; `undefined` without candles. */
  readonly oldestDay: number | undefined;
  /** The room that the files take. */
  readonly bytes: number;
}

/** Writes the candles of assets into the files that {@link CandleFiles} reads. One call at a time. */
export class CandleWriter {
  readonly #dir: string;
  readonly #files: CandleFiles;
  /** The files and folders that were written since the last {@link sync}. */
  readonly #unsynced = new Set<string>();

  constructor(dir: string, files: CandleFiles) {
    this.#dir = dir;
    this.#files = files;
  }

  /**
   * Writes minutes, and the quarter hours that contain them. Every thread reads them afterwards; {@link sync} flushes them to the disk.
   * @param minutes ascending
   */
  async write(asset: AssetName, minutes: readonly NumberedCandle[]): Promise<void> {
    const rows = minutes.map((minute) => ({ ...minute, minutes: 1 }));
    await this.#writeRows(asset, 'minute', rows);
    await this.#writeRows(asset, 'quarter', this.#quartersOf(asset, minutes));
  }

  /** Flushes everything that was written. */
  async sync(signal?: AbortSignal): Promise<void> {
    for (const path of [...this.#unsynced].sort().reverse()) {
      signal?.throwIfAborted();
      await syncFolder(path);
      this.#unsynced.delete(path);
    }
  }

  /** Removes the months that end before a day. @returns what is left */
  async removeBefore(day: number): Promise<KeptMonths> {
    let oldestDay: number | undefined;
    let bytes = 0;
    for (const name of await namesIn(this.#dir)) {
      for (const month of (await namesIn(join(this.#dir, name))).map(monthOfName)) {
        if (month === undefined) continue;
        const path = join(this.#dir, name, month.name);
        if (month.endDay <= day) {
          await rm(path, { force: true });
          this.#unsynced.delete(path);
          continue;
        }
        if (oldestDay === undefined || month.firstDay < oldestDay) oldestDay = month.firstDay;
        bytes += (await stat(path)).blocks * BLOCK_BYTES;
      }
    }
    return { oldestDay, bytes };
  }

  /** Merges quarter hours again from the minutes on disk: in each day those from the first to the last one of these minutes. */
  #quartersOf(asset: AssetName, minutes: readonly NumberedCandle[]): Row[] {
    const rows: Row[] = [];
    const days = new Map<number, { first: number; last: number }>();
    for (const { number } of minutes) {
      const day = Math.floor(number / perDay('minute'));
      const quarter = Math.floor(number / MINUTES_PER_QUARTER);
      days.set(day, { first: days.get(day)?.first ?? quarter, last: quarter });
    }
    for (const { first, last } of days.values()) {
      const [begin, end] = [first * MINUTES_PER_QUARTER, (last + 1) * MINUTES_PER_QUARTER];
      this.#files.read(asset, 'minute', begin, end, (minute, open, high, low, close) => {
        const number = Math.floor(minute / MINUTES_PER_QUARTER);
        const row = rows.at(-1);
        if (row?.number !== number) rows.push({ number, open, high, low, close, minutes: 1 });
        else {
          row.high = Math.max(row.high, high);
          row.low = Math.min(row.low, low);
          row.close = close;
          row.minutes++;
        }
      });
    }
    return rows;
  }

  async #writeRows(asset: AssetName, unit: CandleUnit, rows: readonly Row[]): Promise<void> {
    for (let from = 0; from < rows.length; ) {
      const { endDay } = monthOfDay(Math.floor(rows[from]!.number / perDay(unit)));
      let to = from;
      while (to < rows.length && rows[to]!.number < endDay * perDay(unit)) to++;
      await this.#writeMonth(asset, unit, rows.slice(from, to));
      from = to;
    }
  }

  /** Writes rows of one month: rows that follow each other at once. */
  async #writeMonth(asset: AssetName, unit: CandleUnit, rows: readonly Row[]): Promise<void> {
    const month = monthOfDay(Math.floor(rows[0]!.number / perDay(unit)));
    const name = candleFolderName(asset);
    const path = join(this.#dir, name, month.name);
    const seed = seedOf(name, unit);
    const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return this.#create(path);
    });
    try {
      for (let from = 0; from < rows.length; ) {
        let to = from + 1;
        while (to < rows.length && rows[to]!.number === rows[to - 1]!.number + 1) to++;
        const bytes = Buffer.alloc((to - from) * ROW_BYTES);
        for (let i = from; i < to; i++)
          writeRow(bytes, (i - from) * ROW_BYTES, rows[i]!, rows[i]!.minutes, seed, rows[i]!.number);
        await writeAll(file, bytes, rowPosition(unit, rows[from]!.number, month));
        from = to;
      }
    } finally {
      await file.close();
    }
    this.#unsynced.add(path);
  }

  /** Creates the file of a month with its whole size, so that a file that was cut off is found. */
  async #create(path: string) {
    const folder = dirname(path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await open(`${path}.next`, 'w+', 0o600);
    try {
      await file.truncate(MONTH_BYTES);
      await rename(`${path}.next`, path);
    } catch (error) {
      await file.close();
      throw error;
    }
    for (const changed of [folder, this.#dir]) this.#unsynced.add(changed);
    return file;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
