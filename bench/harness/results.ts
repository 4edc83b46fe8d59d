import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from '../../scripts/load/machine.js';
import type { RowOutcome } from './outcome.js';

/** A measured row. Each row has its own time, machine and commit, because the bench can measure each row alone. */
export interface MeasuredRow extends RowOutcome {
  readonly machine: Machine;
  readonly commit: string;
  /** The time in ISO 8601. */
  readonly measuredAt: string;
  readonly seconds: number;
}

/** The content of `bench/results.json`: the last measurement of each row. */
interface Results {
  readonly rows: readonly MeasuredRow[];
}

/**
 * Replaces the measurement of a row in the file, and removes rows that are not in `names`.
 * @returns all rows of the file, in the order of `names`
 */
export function keepRow(file: string, row: MeasuredRow, names: readonly string[]): MeasuredRow[] {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Results).rows : [];
  const rows = names.flatMap((name) => [row, ...before].find((one) => one.name === name) ?? []);
  const text = JSON.stringify(
    { rows },
    (_key, value) => (typeof value === 'number' ? rounded(value) : value),
    2,
  );
  // Arrays of numbers are on one line, because there are many rounds.
  const short = text.replace(
    /\[[\d\s.,e+-]*\]/g,
    (list) => `[${list.slice(1, -1).trim().replace(/\s+/g, ' ')}]`,
  );
  writeFileSync(file, `${short}\n`);
  return rows;
}

/** Rounds to five significant digits. No figure of the bench is more precise. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}
