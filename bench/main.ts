import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeCommit, describeMachine, type Machine } from '../scripts/load/machine.js';
import { SERVICE_NODE_OPTIONS } from '../scripts/load/server_process.js';
import { Progress } from '../src/cli/progress_line.js';
import { resultsMarkdown, rowMarkdown } from './harness/markdown.js';
import { judge } from './harness/outcome.js';
import { type LoadProfile, sumUpProfiles } from './harness/profile.js';
import {
  type MeasuredRow,
  type Results,
  readResults,
  withProfile,
  withRows,
  writeResults,
} from './harness/results.js';
import { runRounds } from './harness/rounds.js';
import type { Row, Scale } from './harness/row.js';
import { useCurrentSecp256k1 } from './peers/current_secp256k1.js';
import { ROWS, rowByName } from './rows/index.js';
import { COMMAND_NODE_OPTIONS } from './workloads/command_options.js';

/** The arguments of `npm run bench`. bench/README.md describes the arguments. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean' }, check: { type: 'boolean' }, profile: { type: 'boolean' } },
});

const RESULTS_FILE = inBench('results.json');
/** The heaviest loads of the service, and the loads of the rows that miss a bound of CPU time or delay. */
const PROFILED: readonly ProfiledLoad[] = [
  ...['evm-ingest', 'fan-out', 'distinct-sets', 'latency', 'busy-latency', 'ticks', 'rest'].map(
    (row): ProfiledLoad => ({ row, variant: 'service', of: 'service' }),
  ),
  { row: 'signed-frames', variant: 'frames', of: 'stage' },
  { row: 'past', variant: 'service', of: 'command' },
  { row: 'log', variant: 'with the log', of: 'service' },
  { row: 'threads', variant: '2 threads', of: 'service' },
  { row: 'sources', variant: 'recording', of: 'command' },
  { row: 'growth', variant: 'assets', of: 'service' },
];

interface ProfiledLoad {
  readonly row: string;
  readonly variant: string;
  /** The profiled process: the service, the command that the row measures, or the process of the stage itself. */
  readonly of: 'service' | 'command' | 'stage';
}

const commit = describeCommit(['src', 'bench/*.ts', 'scripts/load', 'package-lock.json']);
const progress = new Progress(process.stderr);
if (values.profile) {
  useCurrentSecp256k1();
  for (const one of PROFILED) {
    if (positionals.length > 0 && !positionals.includes(one.row)) continue;
    // The results are saved after each load, so that a profile is kept even if a later load fails.
    const taken = profile(one);
    save(
      withProfile(
        readResults(RESULTS_FILE),
        taken,
        PROFILED.map(({ row }) => row),
      ),
    );
  }
} else {
  const scale: Scale = values.smoke ? 'smoke' : 'full';
  if (scale === 'full') useCurrentSecp256k1();
  const machine = describeMachine();
  const measured: MeasuredRow[] = [];
  for (const row of positionals.length > 0 ? positionals.map(rowByName) : ROWS) {
    const outcome = await measure(row, scale, machine);
    print(`\n${rowMarkdown(outcome).join('\n')}`);
    measured.push(outcome);
    const names = ROWS.map(({ name }) => name);
    // The results are saved after each row, so that a row's figures are kept even if a later row fails.
    if (scale === 'full') save(withRows(readResults(RESULTS_FILE), measured, names));
  }
  const missed = measured.filter(({ reached }) => scale === 'full' && !reached).map(({ name }) => name);
  if (scale === 'full')
    print(missed.length === 0 ? 'Every row reaches what it must.' : `Missed: ${missed.join(', ')}.`);
  if (values.check && missed.length > 0) process.exitCode = 1;
}

async function measure(row: Row, scale: Scale, machine: Machine): Promise<MeasuredRow> {
  const startMs = performance.now();
  const measurements = await runRounds(row, scale, (variant, round) =>
    progress.show(`${row.name}: ${variant}, round ${round + 1}`),
  );
  progress.clear();
  const seconds = (performance.now() - startMs) / 1000;
  const outcome = judge(row, scale, measurements);
  return { ...outcome, machine, commit, measuredAt: new Date().toISOString(), seconds };
}

function save(results: Results): void {
  writeResults(RESULTS_FILE, results);
  writeFileSync(inBench('RESULTS.md'), resultsMarkdown(results));
}

function profile({ row, variant, of }: ProfiledLoad): LoadProfile {
  progress.show(`${row}: profile`);
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-profile-'));
  try {
    const round = fileURLToPath(new URL('./round.js', import.meta.url));
    const options = ['--cpu-prof', `--cpu-prof-dir=${dir}`];
    const variable = { service: SERVICE_NODE_OPTIONS, command: COMMAND_NODE_OPTIONS, stage: undefined }[of];
    const own = variable === undefined ? options : [];
    const { status } = spawnSync(process.execPath, [...own, round, row, variant, 'full'], {
      env: { ...process.env, ...(variable !== undefined && { [variable]: options.join(' ') }) },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) throw new Error(`${row}: exit status ${status}`);
    const [{ model } = { model: 'unknown CPU' }, ...others] = cpus();
    const machine = `${model}, ${others.length + 1} cores, load average ${loadavg()[0]!.toFixed(1)}`;
    return { load: row, commit, machine, functions: sumUpProfiles(dir) };
  } finally {
    progress.clear();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the path of a file in the source folder, because this program runs in `dist/bench`. */
function inBench(name: string): string {
  return fileURLToPath(new URL(`../../bench/${name}`, import.meta.url));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
