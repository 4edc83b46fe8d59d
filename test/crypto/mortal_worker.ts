import { getEnvironmentData } from 'node:worker_threads';
import { verifyEvm as verify } from '../../src/crypto/worker.js';

export { signEvm, signStark, verifyStark } from '../../src/crypto/worker.js';

/** A real worker that ends its thread instead of verifying, or loops, as often as the test's shared counters say. */
export function verifyEvm(message: Uint8Array): Uint8Array {
  const deathsLeft = getEnvironmentData('deathsLeft') as Int32Array | undefined;
  if (deathsLeft && Atomics.sub(deathsLeft, 0, 1) > 0) process.exit(1);
  const hangsLeft = getEnvironmentData('hangsLeft') as Int32Array | undefined;
  if (hangsLeft && Atomics.sub(hangsLeft, 0, 1) > 0) for (;;);
  return verify(message);
}
