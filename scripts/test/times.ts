import { existsSync, readFileSync } from 'node:fs';
import { type Tier, tierOf } from './files.js';

/** The CPU time and real time of one test file, including the processes that the test started and waited for. */
export interface FileTime {
  /** The path below `dist/test`, without its extension. */
  readonly file: string;
  readonly cpuS: number;
  readonly realS: number;
  readonly passed: boolean;
}

const SLOWEST = 10;

/** @param path the path of the file that `test/record_time.ts` writes */
export function readTimes(path: string): FileTime[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [cpuS, realS, code, file] = line.split('\t') as [string, string, string, string];
    return { file, cpuS: Number(cpuS), realS: Number(realS), passed: code === '0' };
  });
}

export function slowestTable(times: readonly FileTime[]): string {
  const sum = times.reduce((seconds, { cpuS }) => seconds + cpuS, 0);
  const slowest = [...times].sort((a, b) => b.cpuS - a.cpuS).slice(0, SLOWEST);
  return [
    `The slowest of ${times.length} test files, which took ${sum.toFixed(0)} s of CPU time:`,
    ' CPU s real s',
    ...slowest.map(
      ({ file, cpuS, realS }) => `${cpuS.toFixed(1).padStart(6)} ${realS.toFixed(1).padStart(6)} ${file}`,
    ),
  ].join('\n');
}

/** @param budgetS the limit in seconds for each tier */
export function overBudget(times: readonly FileTime[], budgetS: Readonly<Record<Tier, number>>): FileTime[] {
  return times.filter(({ file, cpuS }) => cpuS > budgetS[tierOf(file)]);
}

/** Returns the name of a compiled test in a {@link FileTime}. */
export function nameOf(file: string): string {
  return file.replace(/^test\/(.*)\.test\.js$/, '$1');
}
