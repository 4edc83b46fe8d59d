import { setTimeout } from 'node:timers/promises';
import { inspect, parseArgs } from 'node:util';
import { describeCommit, describeMachine, machineText } from '../load/machine.js';
import { type Check, isReached, type Scale, type Sizes } from './check.js';
import { cluster, power } from './cluster/cluster.js';
import { disk } from './disk.js';
import { fair } from './fair.js';
import { handles } from './handles.js';
import { kill } from './kill.js';
import { leaks } from './leaks.js';
import { type Outcome, outcomesTable, summary } from './table.js';

/**
 * Runs the checks of `npm run torture` one after the other, each against a service in a separate process. Then prints a table of all
 * figures. The exit status is 1 when a figure misses its limit. README.md describes the arguments.
 */
const CHECKS: readonly Check[] = [kill, leaks, handles, cluster, power, disk, fair];

/** The time after which a check counts as hung. */
const CHECK_MS_MAX = 600_000;
/** The longest time of a round of all faults of `cluster`. */
const ROUND_MS_MAX = 420_000;
const SMOKE_CHECKS_AT_ONCE = 2;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: 'boolean' },
    rounds: { type: 'string' },
    only: { type: 'string' },
  },
});
const scale: Scale = values.smoke ? 'smoke' : 'full';
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
const sizes: Sizes = { rounds, only: values.only };
const checks = positionals.length > 0 ? positionals.map(checkByName) : CHECKS;
const commit = describeCommit(['src', 'scripts/**/*.ts', 'package-lock.json']);
const machine = describeMachine();
const outcomes: Outcome[] = [];
const queue = checks.entries();
// Several smoke checks may run at once, because their figures have no meaning.
await Promise.all(Array.from({ length: scale === 'smoke' ? SMOKE_CHECKS_AT_ONCE : 1 }, runQueued));
process.stdout.write(`\n${outcomesTable(outcomes, scale)}\n\n${summary(outcomes)}\n`);
process.stdout.write(
  `Commit ${commit}. ${machineText(machine)} Load before the run: ${machine.loadBefore}.\n`,
);
// A failed check may leave handles open, so the program exits explicitly. The services that the check started end with this
// process.
process.exit(outcomes.some(({ failed }) => failed) ? 1 : 0);

async function runQueued(): Promise<void> {
  for (const [at, check] of queue) outcomes[at] = await run(check);
}

async function run(check: Check): Promise<Outcome> {
  process.stderr.write(`${check.name}: ${check.title}\n`);
  const startMs = performance.now();
  const none = { check: check.name, findings: [] };
  try {
    const result = await Promise.race([check.run(scale, sizes), tooLate()]);
    if ('skipped' in result) return { ...none, failed: false, remark: `skipped: ${result.skipped}` };
    return { ...none, findings: result, failed: result.some((finding) => !isReached(finding, scale)) };
  } catch (error) {
    process.stderr.write(`${inspect(error)}\n`);
    return { ...none, failed: true, remark: `failed: ${(error as Error).message}` };
  } finally {
    process.stderr.write(`${check.name}: ${((performance.now() - startMs) / 1000).toFixed(1)} s\n`);
  }
}

/** Fails a check that hangs. The next check can then begin. */
async function tooLate(): Promise<never> {
  const ms = CHECK_MS_MAX + (rounds ?? 0) * ROUND_MS_MAX;
  await setTimeout(ms);
  throw new Error(`it takes longer than ${ms / 1000} s`);
}

function checkByName(name: string): Check {
  const check = CHECKS.find((one) => one.name === name);
  if (check === undefined)
    throw new Error(`there is no check ${name}: ${CHECKS.map((one) => one.name).join(', ')}`);
  return check;
}
