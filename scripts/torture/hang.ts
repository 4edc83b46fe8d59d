import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  workerData,
} from 'node:worker_threads';

const CHANNEL = 'tickseal, hangs';

/** Whether the calling thread serves sockets: of all threads, those are started with a liveness. */
export function servesSockets(): boolean {
  return !isMainThread && workerData?.liveness !== undefined;
}

/**
 * For the main thread, before others start. @returns a function that sends one of the threads that serve sockets into a
 * loop without an end, and tells how many have yet to go.
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

/** The first thread to hear of it goes into the loop. */
export function hangWhenAsked(): void {
  const due = getEnvironmentData(CHANNEL) as Int32Array;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => {
    if (Atomics.sub(due, 0, 1) > 0) for (;;);
    Atomics.add(due, 0, 1);
  };
  channel.unref();
}
