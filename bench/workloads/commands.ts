import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The program `tickseal`. */
export const PROGRAM = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/**
 * Runs Node with these arguments until it ends. The `time` of bash measures its CPU time with a precision of 1 ms.
 * @returns the CPU time and the standard error
 * @throws Error with the standard error, when the program fails
 */
export function runNode(args: readonly string[], env = process.env) {
  const script = 'TIMEFORMAT="%U %S"; time "$@" 2>&1 >/dev/null';
  const command = ['-c', script, 'bash', process.execPath, ...args];
  const { status, stdout, stderr } = spawnSync('bash', command, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${args.join(' ')} failed: ${stdout}`);
  const [user, system] = stderr.trim().split(' ').map(Number);
  return { cpuSeconds: user! + system!, errorText: stdout };
}
