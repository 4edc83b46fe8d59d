import { getEnvironmentData } from 'node:worker_threads';
import { verifyEvm as verify } from '../../src/crypto/pool/worker.js';

export { signEvm, signStark, verifyStark } from '../../src/crypto/pool/worker.js';

/** The names in the environment data under which threads find the remaining numbers of crashes and hangs. */
export const CRASHES_LEFT = 'crashesLeft';
export const HANGS_LEFT = 'hangsLeft';

/** Verifies like the real worker. While the shared counters are above 0, first ends its thread or loops forever. */
export function verifyEvm(message: Uint8Array): Uint8Array {
  if (isDue(CRASHES_LEFT)) process.exit(1);
  if (isDue(HANGS_LEFT)) for (;;);
  return verify(message);
}

function isDue(name: string): boolean {
  const left = getEnvironmentData(name) as Int32Array | undefined;
  return left !== undefined && Atomics.sub(left, 0, 1) > 0;
}
