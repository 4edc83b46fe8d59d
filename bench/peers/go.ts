import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Measurement, Scale } from '../harness/row.js';

/** The time for which the loop is repeated, in seconds of CPU time. */
const SECONDS = '0.5';
/** The time limit of a build. The first build downloads and compiles packages. */
const BUILD_MS_MAX = 280_000;

/** The folder for the built program, outside the repository. */
const KEPT = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tickseal', 'peers', 'go');
/** The source of the program, because this module runs in `dist/bench/peers`. */
const SOURCE = fileURLToPath(new URL('../../../bench/peers/go', import.meta.url));

/**
 * Builds the loop in Go, and runs it. The loop is missing at smoke scale, because a build takes half a minute, and on a machine without
 * Go.
 * @returns the figure `calls`, in a second of CPU time
 */
export function measureGo(scale: Scale): Measurement {
  if (scale === 'smoke') return { figures: {}, missing: 'not built at smoke scale' };
  mkdirSync(KEPT, { recursive: true });
  const file = join(KEPT, 'recover');
  const options = { cwd: SOURCE, timeout: BUILD_MS_MAX, stdio: 'ignore' } as const;
  const built = spawnSync('go', ['build', '-o', file, '.'], options);
  if (built.status !== 0 || !existsSync(file))
    return { figures: {}, missing: 'it needs go, cc, and the modules of bench/peers/go' };
  const { status, stdout, stderr } = spawnSync(file, [SECONDS]);
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  return { figures: { calls: Number(stdout) } };
}
