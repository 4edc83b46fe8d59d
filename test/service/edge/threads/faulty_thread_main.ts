import { BroadcastChannel, getEnvironmentData, isMainThread } from 'node:worker_threads';
import { loopForever } from '../../../../scripts/torture/thread_faults.js';

/** The fault of the first thread that receives it: the thread crashes or loops forever. */
export type Fault = 'crash' | 'loop';

/** The key {@link FAULTS} of the threads' environment data has the name of the channel for faults. */
export interface FaultChannel {
  readonly channel: string;
  /** Two counts of threads: threads that must still receive a fault, and threads that must block at their start. */
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
    loopForever();
  };
  faults.unref();
  await import('../../../../src/service/edge/threads/thread_main.js');
}

function isMine(due: Int32Array, place: number): boolean {
  if (Atomics.sub(due, place, 1) > 0) return true;
  Atomics.add(due, place, 1);
  return false;
}
