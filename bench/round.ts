import { RUN_SECONDS_MAX } from './harness/rounds.js';
import type { Scale } from './harness/row.js';
import { rowByName } from './rows/index.js';

/**
 * The process of one run: `round.js ROW VARIANT SCALE` prints its measurement as JSON. In a stage, the process does the
 * work itself. In a load run, the process is the client, and the server is a second process that ends with this process.
 */
const [rowName = '', variant = '', scale = 'full'] = process.argv.slice(2);
const run = rowByName(rowName).variants[variant];
if (run === undefined) throw new RangeError(`row ${rowName} has no variant "${variant}"`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
setTimeout(() => {
  process.stderr.write(`still running after ${RUN_SECONDS_MAX} s\n`);
  process.exit(1);
}, RUN_SECONDS_MAX * 1000).unref();

const measurement = await run(scale as Scale);
process.stdout.write(`${JSON.stringify(measurement)}\n`);
