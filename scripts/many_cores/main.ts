import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { programCommit } from '../../src/cli/program_version.js';
import { describeMachine, machineText } from '../load/machine.js';
import { threeDigits } from '../load/statistics.js';
import { type Figures, measureServed, type Sizes } from './measure.js';
import { type Served, startEdges, startThreads } from './served.js';

// Measures how a service scales over threads, and over edges of a cluster on the same machine. bench/README.md describes the figures.

const { values } = parseArgs({ options: { smoke: { type: 'boolean' }, json: { type: 'string' } } });

const FULL: Sizes = {
  warmUpMs: 1_000,
  measureMs: 2_000,
  // The first load is more than a thread can serve.
  readers: [
    [5_000, '10ms'],
    [20_000, '100ms'],
  ],
};
const SMOKE: Sizes = { warmUpMs: 50, measureMs: 100, readers: [[20, '10ms']] };
/** The numbers of threads and edges. No machine has the cores of the last one in a smoke run. */
const COUNTS = values.smoke ? [1, 1_000] : [1, 2, 4, 8, 12];
/** The time after which no further service starts. */
const START_S_MAX = 400;

const sizes = values.smoke ? SMOKE : FULL;
const startMs = performance.now();
const columns: Record<string, Figures> = {};
const skipped: string[] = [];
const machine = describeMachine();

// The servers and clients end with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    skipped.push(`the rest, because the measurement was ended after ${secondsSinceStart().toFixed(0)} s`);
    showResult();
    process.exit(1);
  });
print(machineText(machine));
for (const count of COUNTS) await measureColumn(count, 'thread', startThreads);
if (findNatsServer() === undefined)
  skipped.push('edges, because there is no nats-server: scripts/nats_server.sh fetches it');
else for (const count of COUNTS) await measureColumn(count, 'edge', startEdges);
showResult();

/** Measures a service, or writes the reason why this machine cannot. */
async function measureColumn(
  count: number,
  what: string,
  start: (count: number) => Promise<Served>,
): Promise<void> {
  const name = `${count} ${what}${count === 1 ? '' : 's'}`;
  const skip = (reason: string) => skipped.push(`${name}, ${reason}`);
  if (count > machine.cores) return void skip(`because this machine has ${machine.cores} cores`);
  if (secondsSinceStart() > START_S_MAX) return void skip(`because ${START_S_MAX} s have passed`);
  process.stderr.write(`${secondsSinceStart().toFixed(0)} s: ${name}\n`);
  const served = await start(count);
  const figures: Figures = {};
  columns[name] = figures;
  await measureServed(served, Math.max(2, count), sizes, figures, skip);
  await served.stop();
}

function showResult(): void {
  for (const line of table()) print(line);
  const result = { commit: programCommit(), machine, seconds: secondsSinceStart(), columns, skipped };
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
}

function table(): string[] {
  const names = Object.keys(columns);
  const figures = new Set(Object.values(columns).flatMap((column) => Object.keys(column)));
  return [
    '',
    `| | ${names.join(' | ')} |`,
    `|---|${'--:|'.repeat(names.length)}`,
    ...[...figures].map((figure) => {
      const cells = names.map((name) => threeDigits(columns[name]![figure] ?? Number.NaN));
      return `| ${figure} | ${cells.join(' | ')} |`;
    }),
    '',
    ...skipped.map((line) => `Skipped: ${line}.`),
  ];
}

function secondsSinceStart(): number {
  return (performance.now() - startMs) / 1_000;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
