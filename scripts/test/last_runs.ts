import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DIST } from './files.js';
import { hasChanged } from './light_tests.js';
import type { FileTime } from './times.js';

/**
 * The path of a file with the start of the last passed run of each test, in milliseconds since 1970. The names of tests are those in
 * {@link FileTime}.
 */
const LAST_RUNS = `${DIST}test/last_runs.json`;

type LastRuns = Readonly<Record<string, number>>;

/** Returns the tests that have not passed since their last change. A change of a module changes each test that loads the module. */
export function changedTests(files: readonly string[]): string[] {
  const last = readLastRuns();
  return files.filter((file) => hasChanged(file, last[nameOf(file)] ?? Number.NEGATIVE_INFINITY));
}

/** Stores the start of a run for the tests that passed, and removes the starts of the other tests. */
export function keepRuns(times: readonly FileTime[], startMs: number): void {
  const runs: Record<string, number> = { ...readLastRuns() };
  for (const { file, passed } of times) {
    if (passed) runs[file] = startMs;
    else delete runs[file];
  }
  writeFileSync(LAST_RUNS, JSON.stringify(runs));
}

function readLastRuns(): LastRuns {
  return existsSync(LAST_RUNS) ? (JSON.parse(readFileSync(LAST_RUNS, 'utf8')) as LastRuns) : {};
}

/** Returns the name of a compiled test in a {@link FileTime}. */
export function nameOf(file: string): string {
  return file.replace(/^test\/(.*)\.test\.js$/, '$1');
}
