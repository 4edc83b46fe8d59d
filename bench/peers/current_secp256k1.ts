import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SECP256K1_LIBRARY_VARIABLE } from '../../src/crypto/secp256k1/secp256k1.js';

const SCRIPT = fileURLToPath(new URL('../../../scripts/secp256k1_library.sh', import.meta.url));
/** The time limit of a build. The first build downloads and compiles packages. */
const BUILD_MS_MAX = 280_000;

/**
 * Makes all runs use a current libsecp256k1, unless the environment names a library or this machine cannot build it. Otherwise
 * the runs use the library of the machine.
 */
export function useCurrentSecp256k1(): void {
  if (process.env[SECP256K1_LIBRARY_VARIABLE] !== undefined) return;
  const { status, stdout } = spawnSync('bash', [SCRIPT], {
    encoding: 'utf8',
    timeout: BUILD_MS_MAX,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (status === 0) process.env[SECP256K1_LIBRARY_VARIABLE] = stdout.trim();
}
