import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

// Loaded into every test's process by .taprc: tells scripts/test/main.ts how much time the file took.

const TICKS_PER_SECOND = 100;

const timesFile = process.env['TICKSEAL_TEST_TIMES'];
const [, file] = /dist\/test\/(.*)\.test\.js$/.exec(process.argv[1] ?? '') ?? [];
// The threads of a test and the programs that it starts must not load this file's name from their environment.
if (isMainThread) delete process.env['TICKSEAL_TEST_TIMES'];
if (isMainThread && timesFile !== undefined && file !== undefined)
  process.on('exit', () => {
    const realS = performance.now() / 1000;
    appendFileSync(timesFile, `${cpuSeconds().toFixed(2)}\t${realS.toFixed(2)}\t${file}\n`);
  });

/** CPU time of this process, and on Linux of the processes that it waited for. */
function cpuSeconds(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // The name of the program stands in brackets and may hold spaces; the times are the 14th to the 17th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}
