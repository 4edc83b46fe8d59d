import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { CandleFiles } from './candle_files.js';
import { MINUTES_PER_QUARTER, perDay } from './candle_rows.js';

/** The time in which a running service may still write the quarter hour of a minute. */
const WRITING_MINUTES = 60;

/**
 * Checks the candles of all assets: every row, and that each quarter hour is there and has the minutes from which it was merged. So the
 * loss of rows is found, which no checksum shows.
 * @param newestMinute the newest minute of the data folder
 * @returns the damage that the files do not report by themselves, each in one sentence
 */
export async function checkCandles(
  files: CandleFiles,
  newestMinute: number,
  onProgress: (done: number, total: number) => void,
): Promise<string[]> {
  const damage: string[] = [];
  const names = files.folders();
  for (const [done, name] of names.entries()) {
    for (const month of files.monthsIn(name)) {
      const spanOf = (unit: 'minute' | 'quarter') =>
        [unit, month.firstDay * perDay(unit), month.endDay * perDay(unit)] as const;
      // A service writes a minute before its quarter hour, so this check reads them in the other order.
      const expected = new Map<number, number>();
      files.readIn(name, ...spanOf('quarter'), (quarter, _open, _high, _low, _close, minutes) =>
        expected.set(quarter, minutes),
      );
      let lost = 0;
      files.readIn(name, ...spanOf('minute'), (minute) => {
        const quarter = Math.floor(minute / MINUTES_PER_QUARTER);
        const left = expected.get(quarter);
        if (left !== undefined) expected.set(quarter, left - 1);
        else if (minute < newestMinute - WRITING_MINUTES) lost++;
      });
      for (const left of expected.values()) if (left > 0) lost++;
      if (lost > 0) damage.push(`${files.pathOf(name, month)} is damaged: ${lost} candles are missing`);
      await endOfTurn();
    }
    onProgress(done + 1, names.length);
  }
  return damage;
}
