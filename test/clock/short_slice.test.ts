import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { systemClock } from '../../src/clock/clock.js';
import { PreciseTimer } from '../../src/clock/precise_timer.js';

const MODULE = new URL('../../src/clock/short_slice.js', import.meta.url);

/** Takes the slice in a process, and returns its result and the slice that the kernel then shows. */
function takeInProcess(...wrapper: readonly string[]): { isTaken: boolean; sliceNs: number | undefined } {
  const program = `
    import { readFileSync } from 'node:fs';
    import { takeShortSlice } from ${JSON.stringify(MODULE.href)};
    const isTaken = takeShortSlice();
    const text = readFileSync('/proc/thread-self/sched', 'utf8');
    console.log(JSON.stringify({ isTaken, sliceNs: sliceOf(text) }));
    ${sliceOf}`;
  const [command, ...args] = [...wrapper, process.execPath, '--input-type=module', '-e', program];
  const { stdout, stderr } = spawnSync(command!, args, {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('./', MODULE)),
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

function sliceOf(text: string): number | undefined {
  const found = /^se\.slice\s*:\s*(\d+)/m.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

const isLinux = process.platform === 'linux';
const [major = 0, minor = 0] = release().split('.').map(Number);
const hasSlices = isLinux && (major > 6 || (major === 6 && minor >= 12));

test('the thread gets the shortest slice', { skip: !hasSlices && 'needs Linux 6.12' }, (t) => {
  const before = sliceOf(readFileSync('/proc/thread-self/sched', 'utf8'));
  const { isTaken, sliceNs } = takeInProcess();
  t.ok(isTaken);
  if (before !== undefined) t.equal(sliceNs, 100_000);
  t.end();
});

test('the thread of the timer gets the shortest slice', {
  skip: !hasSlices && 'needs Linux 6.12',
}, async (t) => {
  const timer = new PreciseTimer(systemClock(), () => {});
  t.teardown(() => timer.stop());
  const slices = () =>
    readdirSync('/proc/self/task').map((thread) =>
      sliceOf(readFileSync(`/proc/self/task/${thread}/sched`, 'utf8')),
    );
  if (slices()[0] === undefined) return;
  const shortest = await eventually(() => {
    const found = slices().filter((sliceNs) => sliceNs === 100_000);
    return found.length > 0 && found;
  });
  t.equal(shortest.length, 1);
});

test('a thread with another policy keeps its policy', { skip: !isLinux && 'needs Linux' }, (t) => {
  t.notOk(takeInProcess('chrt', '--batch', '0').isTaken);
  t.end();
});
