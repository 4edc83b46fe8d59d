import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// The module that .taprc loads into every test's process. The module reports to scripts/test/main.ts the file's run time and exit
// status.

const TICKS_PER_SECOND = 100;

const timesFile = process.env['TICKSEAL_TEST_TIMES'];
const [, file] = /dist\/test\/(.*)\.test\.js$/.exec(process.argv[1] ?? '') ?? [];
// Removes the variable, so that the test's threads and child processes do not load this module's report.
if (isMainThread) delete process.env['TICKSEAL_TEST_TIMES'];
if (isMainThread && timesFile !== undefined && file !== undefined)
  process.on('exit', (code) => {
    const realS = performance.now() / 1000;
    appendFileSync(timesFile, `${cpuSeconds().toFixed(2)}\t${realS.toFixed(2)}\t${code}\t${file}\n`);
  });

/** Returns the CPU time of this process. On Linux, adds the time of its finished child processes. */
function cpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program is in brackets and may contain spaces. The times are the 14th to the 17th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
