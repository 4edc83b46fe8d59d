import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { HANG_MS } from '../scripts/load/wait.js';

/**
 * The first line of every script. The option enables aliases, which a non-interactive bash ignores by default. Without the two
 * variables, Node.js loads no modules of the test runner and records no coverage. Scripts start about twenty short processes, so
 * each of them should start fast.
 */
const PREPARATION = 'shopt -s expand_aliases; unset NODE_OPTIONS NODE_V8_COVERAGE';

/** Runs the text as a bash script in an empty folder. Returns its output, and kills all processes that it left running. */
export async function runShell(script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-readme-'));
  const shell = spawn('bash', ['-c', `${PREPARATION}\n${script}`], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), HANG_MS);
  try {
    return await text(shell.stdout);
  } finally {
    clearTimeout(timer);
    try {
      process.kill(-shell.pid!, 'SIGKILL');
    } catch {
      // All processes of the group have already ended.
    }
    rmSync(folder, { recursive: true });
  }
}
