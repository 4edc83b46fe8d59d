import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  workerData,
} from 'node:worker_threads';

// All threads of a tested service load this module. `SIGUSR2` causes the fault in the environment variable.

/** The fault: an exception or a rejection in the main thread, or an endless loop or an exception in one thread that serves sockets. */
export type Fault = 'exception' | 'rejection' | 'hang' | 'crash';

export const FAULT_VARIABLE = 'TICKSEAL_TEST_FAULT';
export const FAULT_MESSAGE = 'injected by the test';
const CHANNEL = 'tickseal, faults of threads';
/** The rest after each turn of an endless loop, so that it leaves the core to others, like the test that started it. */
const REST_MS = 2;

const fault = process.env[FAULT_VARIABLE] as Fault;

if (isMainThread) prepare();
// Only threads that serve sockets receive `liveness` at their start.
else if (workerData?.liveness !== undefined) takeFaults();

/** Prepares the main thread, before it starts other threads. */
function prepare(): void {
  const due = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(CHANNEL, due);
  process.on('SIGUSR2', () => {
    if (fault === 'exception') throw new Error(FAULT_MESSAGE);
    if (fault === 'rejection') void Promise.reject(new Error(FAULT_MESSAGE));
    Atomics.add(due, 0, 1);
    const channel = new BroadcastChannel(CHANNEL);
    channel.postMessage(fault);
    channel.close();
  });
}

/** Prepares a serving thread. The first thread that receives the message takes the fault. */
function takeFaults(): void {
  const due = getEnvironmentData(CHANNEL) as Int32Array;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => {
    if (Atomics.sub(due, 0, 1) <= 0) {
      Atomics.add(due, 0, 1);
      return;
    }
    if (fault === 'crash') throw new Error(FAULT_MESSAGE);
    const rest = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    for (;;) Atomics.wait(rest, 0, 0, REST_MS);
  };
  channel.unref();
}
