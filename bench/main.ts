import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeCommit, describeMachine } from '../scripts/load/machine.js';
import { Progress } from '../src/cli/progress_line.js';
import { judge } from './harness/outcome.js';
import { resultsPage, rowPage } from './harness/page.js';
import { keepRow } from './harness/results.js';
import { runRounds } from './harness/rounds.js';
import type { Scale } from './harness/row.js';
import { useCurrentSecp256k1 } from './peers/current_secp256k1.js';
import { ROWS, rowByName } from './rows/index.js';

/** The arguments of `npm run bench`. bench/README.md describes the arguments. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean' }, check: { type: 'boolean' } },
});
const scale: Scale = values.smoke ? 'smoke' : 'full';
const commit = describeCommit(['src', 'bench/*.ts', 'scripts/load', 'package-lock.json']);
const progress = new Progress(process.stderr);
const missed: string[] = [];

if (scale === 'full') useCurrentSecp256k1();
const machine = describeMachine();
for (const row of positionals.length > 0 ? positionals.map(rowByName) : ROWS) {
  const startMs = performance.now();
  const measurements = await runRounds(row, scale, (variant, round) =>
    progress.show(`${row.name}: ${variant}, round ${round + 1}`),
  );
  progress.clear();
  const outcome = judge(row, scale, measurements);
  print(`\n${rowPage(outcome).join('\n')}`);
  if (scale === 'smoke') continue;
  if (!outcome.reached) missed.push(row.name);
  const seconds = (performance.now() - startMs) / 1000;
  const measured = { ...outcome, machine, commit, measuredAt: new Date().toISOString(), seconds };
  // The results are saved after each row, so that a row's figures are kept even if a later row fails.
  const names = ROWS.map(({ name }) => name);
  writeFileSync(inBench('RESULTS.md'), resultsPage(keepRow(inBench('results.json'), measured, names)));
}
if (scale === 'full')
  print(missed.length === 0 ? 'Every row reaches its bounds.' : `Missed: ${missed.join(', ')}.`);
if (values.check && missed.length > 0) process.exitCode = 1;

/** Returns the path of a file in the source folder, because this program runs in `dist/bench`. */
function inBench(name: string): string {
  return fileURLToPath(new URL(`../../bench/${name}`, import.meta.url));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
