import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { HANG_MS } from '../scripts/load/wait.js';

/** Aliases work in scripts too, and about twenty short processes run without the runner's loaders. */
const PREPARATION = 'shopt -s expand_aliases; unset NODE_OPTIONS NODE_V8_COVERAGE';

/** Runs the text as a bash script in an empty folder and returns its output; ends all processes that it left running. */
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
      // The whole group has ended already.
    }
    rmSync(folder, { recursive: true });
  }
}
