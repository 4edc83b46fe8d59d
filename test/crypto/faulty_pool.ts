import { fileURLToPath } from 'node:url';
import { setEnvironmentData } from 'node:worker_threads';
import { eventually } from '../../scripts/load/wait.js';
import { type CryptoPool, createCryptoPool } from '../../src/crypto/pool/pool.js';
import { CRASHES_LEFT, HANGS_LEFT } from './faulty_worker.js';

/** A pool whose threads crash or hang when a test requests it. Deadlines pass only when a test calls {@link expire}. */
export interface FaultyPool {
  readonly pool: CryptoPool;
  /** Makes the next `times` pieces of EVM signatures end their threads. */
  crash(times: number): void;
  /** Returns the number of remaining crashes, which is below 0 when there were more pieces. */
  crashesLeft(): number;
  /** Makes the next `times` pieces of EVM signatures hang. */
  hang(times: number): void;
  /** Returns the number of remaining hangs. */
  hangsLeft(): number;
  /** Waits until at most `left` hangs remain. */
  hanging(left: number): Promise<void>;
  /** Makes the deadline pass for all running pieces. */
  expire(): void;
}

/** A number of ticks that is more than a deadline. */
const TICKS = 100;

export async function createFaultyPool(threads: number): Promise<FaultyPool> {
  const crashesLeft = sharedCounter(CRASHES_LEFT);
  const hangsLeft = sharedCounter(HANGS_LEFT);
  let tick = (): void => {};
  const pool = await createCryptoPool({
    threads,
    workerFile: fileURLToPath(new URL('./faulty_worker.js', import.meta.url)),
    repeat: (call) => {
      tick = call;
      return () => undefined;
    },
  });
  return {
    pool,
    crash: (times) => Atomics.store(crashesLeft, 0, times),
    crashesLeft: () => Atomics.load(crashesLeft, 0),
    hang: (times) => Atomics.store(hangsLeft, 0, times),
    hangsLeft: () => Atomics.load(hangsLeft, 0),
    async hanging(left) {
      await eventually(() => Atomics.load(hangsLeft, 0) <= left);
    },
    expire() {
      for (let i = 0; i < TICKS; i++) tick();
    },
  };
}

/** Returns a shared counter that the worker threads of later pools read. */
function sharedCounter(name: string): Int32Array {
  const counter = new Int32Array(new SharedArrayBuffer(4));
  setEnvironmentData(name, counter);
  return counter;
}
