import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  workerData,
} from 'node:worker_threads';

const CHANNEL = 'tickseal, hangs';

/** Tells whether the calling thread serves sockets. Only such threads are started with `liveness`. */
export function servesSockets(): boolean {
  return !isMainThread && workerData?.liveness !== undefined;
}

/**
 * Prepares hangs in the main thread, before it starts other threads.
 * @returns a function that sends one serving thread into an endless loop, and returns the number of threads that have not
 * entered the loop yet
 */
export function createHangs(): () => number {
  const due = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  setEnvironmentData(CHANNEL, due);
  return () => {
    Atomics.add(due, 0, 1);
    const channel = new BroadcastChannel(CHANNEL);
    channel.postMessage('');
    channel.close();
    return Atomics.load(due, 0);
  };
}

/** Prepares a serving thread. The first thread that receives the message enters the loop. */
export function hangWhenAsked(): void {
  const due = getEnvironmentData(CHANNEL) as Int32Array;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => {
    if (Atomics.sub(due, 0, 1) > 0) for (;;);
    Atomics.add(due, 0, 1);
  };
  channel.unref();
}
