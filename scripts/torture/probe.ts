import { createRequire } from 'node:module';
import { getEnvironmentData, isMainThread, setEnvironmentData, workerData } from 'node:worker_threads';
import { createHeldBytes } from '../load/held_memory.js';
import type { ProbeAnswers } from './probed_service.js';
import { createFaults, servesSockets, takeFaults } from './thread_faults.js';

// The module that Node loads into all threads of a service. probed_service.ts sends requests to this module.

const EXITS = 'tickseal torture, exits';
const DUE = 0;
const DONE = 1;

if (isMainThread) answerQuestions();
else if (servesSockets()) takeFaults();
else if (!isTimer()) exitWhenAsked();

/**
 * Returns whether this is the thread of a timer. Its thread may end while it loads, and the package secp256k1 aborts a process whose thread
 * ends while the package is loaded.
 */
function isTimer(): boolean {
  return workerData instanceof BigInt64Array;
}

function answerQuestions(): void {
  const exits = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(EXITS, exits);
  const giveFault = createFaults();
  const answers: Readonly<Record<keyof ProbeAnswers, () => number>> = {
    heap: createHeldBytes(),
    killThread() {
      Atomics.add(exits, DUE, 1);
      return Atomics.load(exits, DONE);
    },
    exits: () => Atomics.load(exits, DONE),
    hangServer: () => giveFault('hang'),
    crashServer: () => giveFault('crash'),
  };
  process.on('message', (question: keyof ProbeAnswers) => process.send!(answers[question]()));
  // Without this call, the channel would keep the service alive.
  process.channel!.unref();
}

/**
 * Makes a thread exit. Ending a thread inside native code would abort the process, so the thread exits just before such a call.
 */
function exitWhenAsked(): void {
  const exits = getEnvironmentData(EXITS) as Int32Array;
  const curve = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1');
  const { ecdsaRecover, ecdsaSign } = curve;
  const exitIfDue = () => {
    const due = Atomics.load(exits, DUE);
    if (due > 0 && Atomics.compareExchange(exits, DUE, due, due - 1) === due) {
      Atomics.add(exits, DONE, 1);
      process.exit(1);
    }
  };
  // A thread that has tables of all publishers verifies without this package, but still signs with it.
  const exiting: Partial<typeof curve> = {
    ecdsaRecover(...args) {
      exitIfDue();
      return ecdsaRecover(...args);
    },
    ecdsaSign(...args) {
      exitIfDue();
      return ecdsaSign(...args);
    },
  };
  Object.assign(curve, exiting);
}
