import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from './machine.js';
import type { RowOutcome } from './outcome.js';
import type { LoadProfile } from './profile.js';

/** `bench/results.json`: what was last measured of every row. */
export interface Results {
  readonly rows: readonly MeasuredRow[];
  readonly profiles: readonly LoadProfile[];
}

/** A row alone can be measured again, so each says when, where and of what. */
export interface MeasuredRow extends RowOutcome {
  readonly machine: Machine;
  readonly commit: string;
  /** ISO 8601. */
  readonly measuredAt: string;
  readonly seconds: number;
}

/** @returns nothing measured where there is no file yet. */
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
  // Arrays of numbers stay on one line: they are the rounds, and there are many.
  writeFileSync(
    file,
    `${text.replace(/\[[\d\s.,e+-]*\]/g, (list) => `[${list.slice(1, -1).trim().replace(/\s+/g, ' ')}]`)}\n`,
  );
}

/** `results` with these rows in the place of earlier ones, in the order of `names`. */
export function withRows(results: Results, rows: readonly MeasuredRow[], names: readonly string[]): Results {
  const all = [...rows, ...results.rows.filter(({ name }) => !rows.some((row) => row.name === name))];
  return {
    ...results,
    rows: names.flatMap((name) => all.find((row) => row.name === name) ?? []),
  };
}

/** Five significant digits are more than any figure here means. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}
