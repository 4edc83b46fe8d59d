import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  workerData,
} from 'node:worker_threads';

const CHANNEL = 'tickseal, faults of threads';

/** The fault of a serving thread: an endless loop, or an exception that no code catches. */
export type ThreadFault = 'hang' | 'crash';

/** Returns whether the calling thread serves sockets. Only such threads receive `liveness` at their start. */
export function servesSockets(): boolean {
  return !isMainThread && workerData?.liveness !== undefined;
}

/**
 * Prepares faults in the main thread, before the main thread starts other threads.
 * @returns a function that gives a fault to one serving thread, and returns the number of faults that no thread has taken yet
 */
export function createFaults(): (fault: ThreadFault) => number {
  const due = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(CHANNEL, due);
  return (fault) => {
    Atomics.add(due, 0, 1);
    const channel = new BroadcastChannel(CHANNEL);
    channel.postMessage(fault);
    channel.close();
    return Atomics.load(due, 0);
  };
}

/** Prepares a serving thread. The first thread that receives the message takes the fault. */
export function takeFaults(): void {
  const due = getEnvironmentData(CHANNEL) as Int32Array;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = (message) => {
    if (Atomics.sub(due, 0, 1) <= 0) {
      Atomics.add(due, 0, 1);
      return;
    }
    if ((message as { data: ThreadFault }).data === 'crash') throw new Error('injected by the torture');
    loopForever();
  };
  channel.unref();
}

/** The rest after each turn of {@link loopForever}. */
const REST_MS = 2;

/** Loops without an end. The loop blocks for most of the time, so that it leaves the core to others, like the test that started it. */
export function loopForever(): never {
  const rest = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  for (;;) Atomics.wait(rest, 0, 0, REST_MS);
}
