import { parentPort, workerData } from 'node:worker_threads';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';

// A thread of `sign_on_all_cores.ts`. It answers each message, a time in ms, with the number of bodies that it signed in that time.

const body = Buffer.alloc(workerData as number, 1);
parentPort!.on('message', (ms: number) => {
  const end = performance.now() + ms;
  let calls = 0;
  for (; performance.now() < end; calls++) secp256k1.sign(keccak256(body), SERVICE_KEY);
  parentPort!.postMessage(calls);
});
