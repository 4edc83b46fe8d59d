import { execFileSync, spawnSync } from 'node:child_process';

/**
 * Runs `promtool`.
 * @returns its output and status; `undefined` without promtool
 */
export function promtool(
  args: readonly string[],
  input = '',
): { readonly output: string; readonly status: number | null } | undefined {
  const { error, stdout, stderr, status } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return error === undefined ? { output: stdout + stderr, status } : undefined;
}

/** Returns whether a program is in the path. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
