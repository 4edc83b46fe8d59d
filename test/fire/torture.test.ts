import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';

const MAIN = fileURLToPath(new URL('../../scripts/torture/main.js', import.meta.url));
const CHECKS = ['stalled', 'kill', 'signals', 'leaks', 'unread', 'handles', 'worker', 'disk', 'flood'];

test('the least of each torture holds', { timeout: 120_000 }, async (t) => {
  // The runner's loaders stay out of the services, and what they would write there out of its coverage.
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env;
  const run = promisify(execFile)(process.execPath, [MAIN, '--smoke'], { env });
  const { stdout } = await run.catch((error: { stdout: string; stderr: string }) => error);
  t.match(stdout, /^Everything holds\.$/m, stdout);
  for (const check of CHECKS) t.match(stdout, new RegExp(`^${check} +\\S`, 'm'), check);
});

test('a name that no check has is an error that lists them', async (t) => {
  const { stderr } = await promisify(execFile)(process.execPath, [MAIN, 'nothing']).catch((error) => error);
  for (const check of CHECKS) t.match(stderr, check);
});
