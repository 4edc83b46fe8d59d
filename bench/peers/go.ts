import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measurement, Scale } from '../harness/row.js';

/** The time for which the loop is repeated, in seconds of CPU time. */
const SECONDS = '0.5';
/** The time limit of a build. The first build downloads and compiles packages. */
const BUILD_MS_MAX = 280_000;

/** The script in the source, because this module runs in `dist/bench/peers`. */
const SCRIPT = fileURLToPath(new URL('../../../bench/peers/go/build.sh', import.meta.url));

/**
 * Builds the loop in Go, and runs it. The loop is missing at smoke scale, because a build takes half a minute, and on a machine without
 * Go.
 * @returns the figure `calls`, in a second of CPU time
 */
export function measureGo(scale: Scale): Measurement {
  if (scale === 'smoke') return { figures: {}, missing: 'not built at smoke scale' };
  const built = spawnSync('bash', [SCRIPT], {
    encoding: 'utf8',
    timeout: BUILD_MS_MAX,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (built.status !== 0)
    return { figures: {}, missing: 'it needs go, cc, and the modules of bench/peers/go' };
  const file = built.stdout.trim();
  const { status, stdout, stderr } = spawnSync(file, [SECONDS], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${file}: ${stderr}`);
  return { figures: { calls: Number(stdout) } };
}
