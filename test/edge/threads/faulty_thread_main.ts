import { BroadcastChannel, getEnvironmentData, isMainThread } from 'node:worker_threads';

/** What a test does to one thread, the first to receive it: the thread crashes, or loops for ever. */
export type Fault = 'crash' | 'loop';

/** Under {@link FAULTS} of the environment data of a test's threads. */
export interface FaultChannel {
  readonly channel: string;
  /** Two numbers: how many threads are still to take a fault, and how many are to stand still when they start. */
  readonly due: Int32Array;
}

export const FAULTS = 'faults';
export const DUE = 0;
export const DUE_AT_START = 1;

if (!isMainThread) {
  const { channel, due } = getEnvironmentData(FAULTS) as unknown as FaultChannel;
  if (isMine(due, DUE_AT_START)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  const faults = new BroadcastChannel(channel);
  faults.onmessage = (message) => {
    const { data: fault } = message as { data: Fault };
    if (!isMine(due, DUE)) return;
    if (fault === 'crash') throw new Error('injected by the test');
    loop();
  };
  faults.unref();
  await import('../../../src/edge/threads/thread_main.js');
}

function isMine(due: Int32Array, place: number): boolean {
  if (Atomics.sub(due, place, 1) > 0) return true;
  Atomics.add(due, place, 1);
  return false;
}

function loop(): never {
  for (;;);
}
