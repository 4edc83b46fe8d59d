import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';

const MAIN = fileURLToPath(new URL('../../scripts/torture/main.js', import.meta.url));
/** The checks whose attacks no other test of the whole tier makes. */
const CHECKS = ['leaks', 'handles', 'power', 'fair'];

test('checks of the torture pass at their smallest size', async (t) => {
  // `env` removes the test runner's loaders from the environment, because the loaders would also need file handles.
  const plain = ['-u', 'NODE_OPTIONS', '-u', 'NODE_V8_COVERAGE', process.execPath, MAIN];
  const args = [...plain, ...CHECKS, '--smoke'];
  const { stdout, stderr } = await promisify(execFile)('env', args, { maxBuffer: 2 ** 24 }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  const wrong = stdout.split('\n').filter((line) => /\bNO *$|\bfailed: |^Does not hold/.test(line));
  if (wrong.length > 0) t.comment(stderr);
  t.same(wrong, []);
  t.match(stdout, /^Everything holds\.$/m);
  for (const check of CHECKS) t.match(stdout, new RegExp(`^${check} +\\S`, 'm'), check);
});
