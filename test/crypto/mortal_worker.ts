import { getEnvironmentData } from 'node:worker_threads';
import { verifyEvm as verify } from '../../src/crypto/worker.js';

export { signEvm, signStark, verifyStark } from '../../src/crypto/worker.js';

/** A real worker that ends its thread instead of verifying, as often as the test's shared counter says. */
export function verifyEvm(message: Uint8Array): Uint8Array {
  const deathsLeft = getEnvironmentData('deathsLeft') as Int32Array;
  if (Atomics.sub(deathsLeft, 0, 1) > 0) process.exit(1);
  return verify(message);
}
