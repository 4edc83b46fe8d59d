import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../pages.js';
import type { Mutant } from './mutant.js';

/** The longest time of a test file. A mutant may make a test wait for ever, which counts as found. */
const RUN_S_MAX = 120;

/**
 * Runs the test of a mutant with the bent line.
 * @returns `found` when the test fails; `missed` when it passes; `no line` when the source does not have the line exactly once
 */
export async function runMutant(mutant: Mutant): Promise<'found' | 'missed' | 'no line'> {
  if (!hasLine(mutant)) return 'no line';
  const file = join(ROOT, 'dist', mutant.test.replace(/\.ts$/, '.js'));
  const bend = join(ROOT, 'dist/test/mutants/bend.js');
  const test = spawn(process.execPath, [`--import=${bend}`, file], {
    cwd: ROOT,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TICKSEAL_MUTANT: JSON.stringify(mutant),
      // tap's own limit would count as a failure on a busy machine.
      TAP_TIMEOUT: String(2 * RUN_S_MAX),
    },
    stdio: 'ignore',
  });
  const timer = setTimeout(() => test.kill('SIGKILL'), 1_000 * RUN_S_MAX);
  const [status] = (await once(test, 'exit')) as [number | null];
  clearTimeout(timer);
  return status === 0 ? 'missed' : 'found';
}

/** Returns whether the module of a mutant has its line exactly once. */
export function hasLine({ module, line }: Mutant): boolean {
  return readFileSync(join(ROOT, module), 'utf8').split(line).length === 2;
}
