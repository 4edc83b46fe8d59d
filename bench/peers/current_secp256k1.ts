import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SECP256K1_LIBRARY_VARIABLE } from '../../src/crypto/secp256k1/secp256k1.js';

const SCRIPT = fileURLToPath(new URL('../../../scripts/secp256k1_library.sh', import.meta.url));
/** The first time it downloads what it needs and compiles it. */
const BUILD_MS_MAX = 280_000;

/**
 * Lets every run use a current libsecp256k1, where this machine can build one and the environment names none. Otherwise it
 * uses what the machine has.
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
