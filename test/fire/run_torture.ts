import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Test } from 'tap';

const MAIN = fileURLToPath(new URL('../../scripts/torture/main.js', import.meta.url));
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;
export const CHECKS = [
  'stalled',
  'kill',
  'leaks',
  'handles',
  'threads',
  'cluster',
  'power',
  'disk',
  'fair',
  'ranges',
];

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the program. `env` removes the test runner's loaders from the environment, because the loaders would also need file
 * handles.
 */
export async function runTorture(...args: string[]): Promise<Output> {
  const plain = ['-u', 'NODE_OPTIONS', '-u', 'NODE_V8_COVERAGE', process.execPath, MAIN];
  return promisify(execFile)('env', [...plain, ...args], { maxBuffer: OUTPUT_BYTES_MAX }).catch(
    (error: Output) => error,
  );
}

/** Runs checks. Reports each figure that is not as required. */
export async function checksPass(t: Test, checks: readonly string[], ...args: string[]): Promise<void> {
  const { stdout, stderr } = await runTorture(...checks, ...args);
  const wrong = stdout.split('\n').filter((line) => /\bNO *$|\bfailed: |^Does not hold/.test(line));
  if (wrong.length > 0) t.comment(stderr);
  for (const line of wrong) t.fail(line);
  t.match(stdout, /^Everything holds\.$/m);
  for (const check of checks) t.match(stdout, new RegExp(`^${check} +\\S`, 'm'), check);
}
