import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { DIST, isOfTier, ROOT, type Tier, testFiles } from './files.js';
import { mayListen, writeLightTests } from './light_tests.js';
import { type FileTime, nameOf, overBudget, readTimes, slowestTable } from './times.js';

/**
 * Runs the compiled tests of a tier with tap, and then prints the files that took the most CPU time. The arguments are `fast`, `whole` or
 * `long`, or `room NAME` for the fast and whole tests of one folder of `test`.
 *
 * | Option | Effect |
 * |---|---|
 * | `--without-listener` | omits files that need uWebSockets.js |
 * | `--seeds N` | the size of `long` |
 */
const HELP = 'one of: fast, whole, long, room NAME [--without-listener] [--seeds N]';

const TAP = join(ROOT, 'node_modules/.bin/tap');
/**
 * The CPU time, in seconds, that a file of each tier may take, including its processes. The limits are several times the time of
 * the slowest file. Therefore slow machines stay within the limits, and fast files in the whole tier too, where they try more cases and
 * measure coverage.
 */
const BUDGET_S: Readonly<Record<Tier, number>> = { fast: 90, whole: 600, long: 10_800 };
/** The real time, in seconds, after which a file counts as hung. */
const LONG_TIMEOUT_S = 4 * 3600;
/** The largest number of failed files that the whole tier runs again. More failures are not a coincidence. */
const RUN_AGAIN_MAX = 3;
/**
 * The options of tap for files that run again. Without these options, the coverage of the second run would replace the coverage
 * of the first run.
 */
const ALONE = ['--disable-coverage', '--jobs=1'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'without-listener': { type: 'boolean', default: false },
    seeds: { type: 'string', default: '100000' },
  },
});
const [what = '', room = ''] = positionals;
if (!['fast', 'whole', 'long', 'room'].includes(what) || (what === 'room') !== (room !== '')) {
  console.error(HELP);
  process.exit(2);
}
process.exitCode = await run(what === 'room' ? 'whole' : (what as Tier));

async function run(tier: Tier): Promise<number> {
  const all = testFiles().filter((file) => !values['without-listener'] || !mayListen(file));
  // Each run writes all bundles, so no bundle of a removed room remains.
  const bundles = writeLightTests(all);
  const bundled = new Set(bundles.flatMap(({ files }) => files));
  const files = [...all.filter((file) => !bundled.has(file)), ...bundles.map(({ bundle }) => bundle)]
    .filter((file) => isOfTier(file, tier))
    .filter((file) => room === '' || isOfRoom(file, room));
  if (files.length === 0) {
    console.error(room === '' ? 'No tests were found.' : `There are no tests in test/${room}.`);
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-tests-'));
  try {
    const timesFile = join(folder, 'times');
    let status = await runTap(tier, files, timesFile);
    const times = readTimes(timesFile);
    if (status !== 0 && tier === 'whole' && room === '') status = await runFailedAlone(files, times, folder);
    console.log(slowestTable(times));
    const slow = overBudget(times, BUDGET_S);
    for (const { file, cpuS } of slow)
      console.log(`Above the budget of its tier: ${file}, ${cpuS.toFixed(0)} s of CPU time`);
    return status === 0 && slow.length > 0 && process.env['CI'] === 'true' ? 1 : status;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns the exit status of tap */
async function runTap(
  tier: Tier,
  files: readonly string[],
  timesFile: string,
  more: readonly string[] = [],
): Promise<number> {
  const options = [
    ...more,
    ...(tier === 'whole' && room === '' ? [] : ['--disable-coverage']),
    ...(tier === 'long' ? [`--timeout=${LONG_TIMEOUT_S}`, '--jobs=1'] : []),
  ];
  const env = {
    ...process.env,
    TICKSEAL_TEST_TIMES: timesFile,
    TICKSEAL_TEST_SEEDS: values.seeds,
    ...(tier === 'whole' ? { TICKSEAL_TEST_TIER: 'whole' } : {}),
  };
  const names = files.map((file) => relative(process.cwd(), join(DIST, file)));
  // In a new installation, the plugins of tap differ from the plugins in .taprc.
  execFileSync(process.execPath, [TAP, 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const tap = spawn(process.execPath, [TAP, ...options, ...names], { stdio: 'inherit', env });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tap.kill(signal));
  const [status] = (await once(tap, 'exit')) as [number | null];
  return status ?? 1;
}

/**
 * Runs failed files again, one after the other, if only a few failed. Tests of browsers, clusters and overload wait for other
 * programs, and the whole tier runs four of them at once. On a machine with other work, a correct test may therefore exceed a
 * time limit. A file that also fails alone has a real error. The function prints the names of files that pass alone, because
 * their time limits need a change.
 * @returns the exit status
 */
async function runFailedAlone(
  files: readonly string[],
  times: readonly FileTime[],
  folder: string,
): Promise<number> {
  const passed = new Set(times.filter((file) => file.passed).map(({ file }) => file));
  const failed = files.filter((file) => !passed.has(nameOf(file)));
  if (failed.length === 0 || failed.length > RUN_AGAIN_MAX) return 1;
  console.log(`These files failed beside others, and run again alone: ${failed.map(nameOf).join(', ')}`);
  const status = await runTap('whole', failed, join(folder, 'times-alone'), ALONE);
  if (status === 0) console.log(`Passed alone: ${failed.map(nameOf).join(', ')}`);
  return status;
}

/** Returns whether a file belongs to a room. The bundle of a room's light tests also belongs to the room. */
function isOfRoom(file: string, name: string): boolean {
  const [, bundle] = /^test\/together\/(\w+?)(?:_\d+)?\.test\.js$/.exec(file) ?? [];
  return file.startsWith(`test/${name}/`) || bundle === name;
}
