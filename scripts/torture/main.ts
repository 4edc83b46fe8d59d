import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { inspect, parseArgs } from 'node:util';
import { describeCommit, describeMachine } from '../load/machine.js';
import { batch } from './batch.js';
import { type Check, isReached, type Scale, type Sizes } from './check.js';
import { clock } from './clock.js';
import { audited } from './cluster/audited.js';
import { cluster } from './cluster/cluster.js';
import { jepsen } from './cluster/jepsen.js';
import { crashes } from './crashes.js';
import { disk } from './disk.js';
import { fair } from './fair.js';
import { flood } from './flood.js';
import { handles } from './handles.js';
import { install } from './install.js';
import { kill } from './kill.js';
import { leaks } from './leaks.js';
import { ranges } from './ranges.js';
import { serving } from './serving.js';
import { signals } from './signals.js';
import { stalled } from './stalled.js';
import { type Outcome, outcomesTable, summary, wholeRunMarkdown } from './table.js';
import { unread } from './unread.js';
import { worker } from './worker.js';

/**
 * Runs the checks of `npm run torture` one after the other, each against a service in a separate process. Then prints a table of all
 * figures. The exit status is 1 when a figure misses its limit. A whole run, without any argument, also writes the table to `RESULTS.md`.
 *
 * | Argument | Meaning |
 * |---|---|
 * | NAME | the name of a check |
 * | `--smoke` | a short run |
 * | `--threads N` | the number of threads of the service in `fair` and `crashes` |
 * | `--count N` | the size of `crashes` and `batch` |
 * | `--minutes N` | the length of `cluster`, `audited` and `jepsen` |
 * | `--rounds N` | the times that `cluster` causes each fault; it then prints a table of silences |
 * | `--only NAME` | the faults of `cluster` and `jepsen`, and the client of `fair` |
 */
const CHECKS: readonly Check[] = [
  stalled,
  kill,
  signals,
  leaks,
  unread,
  handles,
  worker,
  batch,
  serving,
  crashes,
  clock,
  cluster,
  audited,
  jepsen,
  disk,
  flood,
  fair,
  ranges,
  install,
];

/** The time after which a check counts as hung. */
const CHECK_MS_MAX = 600_000;
/** The longest time of a round of all faults of `cluster`. */
const ROUND_MS_MAX = 420_000;
const SMOKE_CHECKS_AT_ONCE = 2;
/** The page of the last whole run, in the source folder. This program runs in `dist/scripts/torture`. */
const RESULTS_FILE = new URL('../../../scripts/torture/RESULTS.md', import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: 'boolean' },
    threads: { type: 'string', default: '1' },
    count: { type: 'string' },
    minutes: { type: 'string' },
    rounds: { type: 'string' },
    only: { type: 'string' },
  },
});
const scale: Scale = values.smoke ? 'smoke' : 'full';
const sizes: Sizes = {
  threads: Number(values.threads),
  count: values.count === undefined ? undefined : Number(values.count),
  minutes: values.minutes === undefined ? undefined : Number(values.minutes),
  rounds: values.rounds === undefined ? undefined : Number(values.rounds),
  only: values.only,
};
const checks = positionals.length > 0 ? positionals.map(checkByName) : CHECKS;
const isWhole = process.argv.length === 2;
const commit = describeCommit(['src', 'scripts/**/*.ts', 'package-lock.json']);
const machine = describeMachine();
const startedAt = new Date().toISOString();
const outcomes: Outcome[] = [];
const queue = checks.entries();
// Several smoke checks may run at once, because their figures have no meaning.
await Promise.all(Array.from({ length: scale === 'smoke' ? SMOKE_CHECKS_AT_ONCE : 1 }, runQueued));
process.stdout.write(`\n${outcomesTable(outcomes, scale)}\n\n`);
process.stdout.write(`${summary(outcomes)}\n`);
if (isWhole) writeFileSync(RESULTS_FILE, wholeRunMarkdown({ outcomes, commit, machine, startedAt }));
// A failed check may leave handles open, so the program exits explicitly. The services that the check started end with this
// process.
process.exit(outcomes.some(({ failed }) => failed) ? 1 : 0);

async function runQueued(): Promise<void> {
  for (const [at, check] of queue) outcomes[at] = await run(check);
}

async function run(check: Check): Promise<Outcome> {
  process.stderr.write(`${check.name}: ${check.title}\n`);
  const startMs = performance.now();
  const seconds = () => (performance.now() - startMs) / 1000;
  try {
    const result = await Promise.race([check.run(scale, sizes), tooLate()]);
    const took = seconds();
    process.stderr.write(`${check.name}: ${took.toFixed(1)} s\n`);
    if ('skipped' in result)
      return {
        check: check.name,
        findings: [],
        remark: `skipped: ${result.skipped}`,
        failed: false,
        seconds: took,
      };
    const missed = result.some((finding) => !isReached(finding, scale));
    return { check: check.name, findings: result, failed: missed, seconds: took };
  } catch (error) {
    process.stderr.write(`${inspect(error)}\n`);
    const remark = `failed: ${(error as Error).message}`;
    return { check: check.name, findings: [], remark, failed: true, seconds: seconds() };
  }
}

/** Fails a check that hangs. The next check can then begin. */
async function tooLate(): Promise<never> {
  const ms = CHECK_MS_MAX + (sizes.minutes ?? 0) * 60_000 + (sizes.rounds ?? 0) * ROUND_MS_MAX;
  await setTimeout(ms);
  throw new Error(`it takes longer than ${ms / 1000} s`);
}

function checkByName(name: string): Check {
  const check = CHECKS.find((one) => one.name === name);
  if (check === undefined)
    throw new Error(`there is no check ${name}: ${CHECKS.map((one) => one.name).join(', ')}`);
  return check;
}
