import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from './machine.js';
import type { RowOutcome } from './outcome.js';
import type { LoadProfile } from './profile.js';

/** `bench/results.json`: the last measurement of each row. */
export interface Results {
  readonly rows: readonly MeasuredRow[];
  readonly profiles: readonly LoadProfile[];
}

/** A measured row. A single row can be measured again, so each states the time, the machine and the commit. */
export interface MeasuredRow extends RowOutcome {
  readonly machine: Machine;
  readonly commit: string;
  /** ISO 8601. */
  readonly measuredAt: string;
  readonly seconds: number;
}

/** @returns no measurements if there is no file yet. */
export function readResults(file: string): Results {
  if (!existsSync(file)) return { rows: [], profiles: [] };
  return JSON.parse(readFileSync(file, 'utf8')) as Results;
}

export function writeResults(file: string, results: Results): void {
  const text = JSON.stringify(
    results,
    (_key, value) => (typeof value === 'number' ? rounded(value) : value),
    2,
  );
  // Arrays of numbers stay on one line, because there are many rounds.
  writeFileSync(
    file,
    `${text.replace(/\[[\d\s.,e+-]*\]/g, (list) => `[${list.slice(1, -1).trim().replace(/\s+/g, ' ')}]`)}\n`,
  );
}

/** Returns `results` with these rows in place of earlier ones, in the order of `names`. */
export function withRows(results: Results, rows: readonly MeasuredRow[], names: readonly string[]): Results {
  const all = [...rows, ...results.rows.filter(({ name }) => !rows.some((row) => row.name === name))];
  return {
    ...results,
    rows: names.flatMap((name) => all.find((row) => row.name === name) ?? []),
  };
}

/** Rounds to five significant digits, more than the precision of any figure here. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}
