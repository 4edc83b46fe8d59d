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

/** The content of `bench/results.json`. */
export interface Results {
  /** The last measurement of each row on the newest Node. */
  readonly rows: readonly MeasuredRow[];
  /** The last measurement of each row on the Node before that. */
  readonly olderNode: readonly MeasuredRow[];
}

/**
 * Replaces the measurement of a row on its version of Node in the file, and removes rows that are not in `names`.
 * @returns the content of the file, in the order of `names`
 */
export function keepRow(file: string, row: MeasuredRow, names: readonly string[]): Results {
  const before: Partial<Results> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const all = [row, ...(before.rows ?? []), ...(before.olderNode ?? [])];
  const versions = names.map((name) => newestNodes(all.filter((one) => one.name === name)));
  const results = {
    rows: versions.flatMap(([newest]) => newest ?? []),
    olderNode: versions.flatMap(([, older]) => older ?? []),
  };
  const text = JSON.stringify(
    results,
    (_key, value) => (typeof value === 'number' ? rounded(value) : value),
    2,
  );
  // Arrays of numbers are on one line, because there are many rounds.
  const short = text.replace(
    /\[[\d\s.,e+-]*\]/g,
    (list) => `[${list.slice(1, -1).trim().replace(/\s+/g, ' ')}]`,
  );
  writeFileSync(file, `${short}\n`);
  return results;
}

/** Returns the major version of the Node on which a row was measured. */
export function nodeOf({ machine }: MeasuredRow): number {
  return Number.parseInt(machine.node.slice('v'.length), 10);
}

/** Returns the first measurement on each version of Node, the newest version first. */
function newestNodes(rows: readonly MeasuredRow[]): MeasuredRow[] {
  const firsts = rows.filter((row, i) => rows.findIndex((one) => nodeOf(one) === nodeOf(row)) === i);
  return firsts.sort((a, b) => nodeOf(b) - nodeOf(a));
}

/** Rounds to five significant digits. No figure of the bench is more precise. */
function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}
