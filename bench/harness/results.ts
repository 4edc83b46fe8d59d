import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from '../../scripts/load/machine.js';
import type { RowOutcome } from './outcome.js';
import type { LoadProfile } from './profile.js';

/** The content of `bench/results.json`: the last measurement of each row. */
export interface Results {
  readonly rows: readonly MeasuredRow[];
  readonly profiles: readonly LoadProfile[];
}

/** A measured row. Each row has its own time, machine and commit, because the bench can measure each row alone. */
export interface MeasuredRow extends RowOutcome {
  readonly machine: Machine;
  readonly commit: string;
  /** The time in ISO 8601. */
  readonly measuredAt: string;
  readonly seconds: number;
}

/** @returns the results of the file; no measurements if the file does not exist. */
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
  // Arrays of numbers are on one line, because there are many rounds.
  writeFileSync(
    file,
    `${text.replace(/\[[\d\s.,e+-]*\]/g, (list) => `[${list.slice(1, -1).trim().replace(/\s+/g, ' ')}]`)}\n`,
  );
}

/** Returns `results` in which the given rows replace earlier rows, in the order of `names`. */
export function withRows(results: Results, rows: readonly MeasuredRow[], names: readonly string[]): Results {
  const all = [...rows, ...results.rows.filter(({ name }) => !rows.some((row) => row.name === name))];
  return {
    ...results,
    rows: names.flatMap((name) => all.find((row) => row.name === name) ?? []),
  };
}

/** Returns `results` in which the profile replaces the earlier profile of its load, in the order of `names`. */
export function withProfile(results: Results, profile: LoadProfile, names: readonly string[]): Results {
  const all = [profile, ...results.profiles];
  return { ...results, profiles: names.flatMap((name) => all.find(({ load }) => load === name) ?? []) };
}

/** Rounds to five significant digits. No figure of the bench is more precise. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}
