import { createRequire } from 'node:module';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import { createHeldBytes } from '../load/held_memory.js';
import { createHangs, hangWhenAsked, servesSockets } from './hang.js';
import type { ProbeAnswers } from './probed_service.js';

// Loaded into all threads of a service; see probed_service.ts.

const DEATHS = 'tickseal torture, deaths';
const DUE = 0;
const DONE = 1;

if (isMainThread) answerQuestions();
else {
  dieWhenAsked();
  if (servesSockets()) hangWhenAsked();
}

function answerQuestions(): void {
  const deaths = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(DEATHS, deaths);
  const answers: Readonly<Record<keyof ProbeAnswers, () => number>> = {
    heap: createHeldBytes(),
    killThread() {
      Atomics.add(deaths, DUE, 1);
      return Atomics.load(deaths, DONE);
    },
    deaths: () => Atomics.load(deaths, DONE),
    hangServer: createHangs(),
  };
  process.on('message', (question: keyof ProbeAnswers) => process.send!(answers[question]()));
  // It must not keep a service that is to end.
  process.channel!.unref();
}

/** A thread that ends inside native code takes the process with it, so this one ends just before. */
function dieWhenAsked(): void {
  const deaths = getEnvironmentData(DEATHS) as Int32Array;
  const curve = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1');
  const { ecdsaRecover } = curve;
  const dying: typeof ecdsaRecover = (...args) => {
    const due = Atomics.load(deaths, DUE);
    if (due > 0 && Atomics.compareExchange(deaths, DUE, due, due - 1) === due) {
      Atomics.add(deaths, DONE, 1);
      process.exit(1);
    }
    return ecdsaRecover(...args);
  };
  Object.assign(curve, { ecdsaRecover: dying });
}
