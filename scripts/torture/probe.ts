import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  workerData,
} from 'node:worker_threads';
import type { ProbeAnswers } from './probed_service.js';

// Loaded into all threads of a service; see probed_service.ts.

const DEATHS = 'tickseal torture, deaths';
const DUE = 0;
const DONE = 1;
const HANGS = 'tickseal torture, hangs';

if (isMainThread) answerQuestions();
else {
  dieWhenAsked();
  // Of all threads those that serve sockets are started with this.
  if (workerData?.pulse !== undefined) hangWhenAsked();
}

function answerQuestions(): void {
  const deaths = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(DEATHS, deaths);
  const hangsDue = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(HANGS, hangsDue);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const answers: Readonly<Record<keyof ProbeAnswers, () => number>> = {
    heap() {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    },
    killThread() {
      Atomics.add(deaths, DUE, 1);
      return Atomics.load(deaths, DONE);
    },
    deaths: () => Atomics.load(deaths, DONE),
    hangServer() {
      const channel = new BroadcastChannel(HANGS);
      Atomics.add(hangsDue, 0, 1);
      channel.postMessage('now');
      channel.close();
      return Atomics.load(hangsDue, 0);
    },
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

/** The first thread to hear of it goes into a loop without an end. */
function hangWhenAsked(): void {
  const due = getEnvironmentData(HANGS) as Int32Array;
  const channel = new BroadcastChannel(HANGS);
  channel.onmessage = () => {
    if (Atomics.sub(due, 0, 1) > 0) for (;;);
    Atomics.add(due, 0, 1);
  };
  channel.unref();
}
