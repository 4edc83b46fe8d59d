import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';

const MAIN = fileURLToPath(new URL('../../scripts/torture/main.js', import.meta.url));
const CHECKS = [
  'stalled',
  'kill',
  'signals',
  'leaks',
  'unread',
  'handles',
  'worker',
  'serving',
  'clock',
  'cluster',
  'disk',
  'flood',
  'fair',
  'install',
];

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program. `env` removes the test runner's loaders from the environment, which would need file handles too. */
async function torture(...args: string[]): Promise<Output> {
  const plain = ['-u', 'NODE_OPTIONS', '-u', 'NODE_V8_COVERAGE', process.execPath, MAIN];
  return promisify(execFile)('env', [...plain, ...args]).catch((error: Output) => error);
}

test('every check of the torture passes at its smallest size', async (t) => {
  const { stdout, stderr } = await torture('--smoke');
  const wrong = stdout.split('\n').filter((line) => /\bNO *$|\bfailed: |^Does not hold/.test(line));
  if (wrong.length > 0) t.comment(stderr);
  t.same(wrong, []);
  t.match(stdout, /^Everything holds\.$/m);
  for (const check of CHECKS) t.match(stdout, new RegExp(`^${check} +\\S`, 'm'), check);
});

test('an unknown name is an error that lists all checks', async (t) => {
  const { stderr } = await torture('nothing');
  for (const check of CHECKS) t.match(stderr, check);
});
