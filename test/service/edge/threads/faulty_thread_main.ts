import { BroadcastChannel, getEnvironmentData, isMainThread } from 'node:worker_threads';
import { loopForever } from '../../../../scripts/torture/thread_faults.js';

/**
 * The fault of the first thread that receives it. The thread crashes or loops forever. With `when woken`, the thread first blocks
 * until it is woken. The fault then follows after some turns of its event loop.
 */
export type Fault = 'crash' | 'loop' | 'crash when woken' | 'loop when woken';

/** The key {@link FAULTS} of the threads' environment data has the name of the channel for faults. */
export interface FaultChannel {
  readonly channel: string;
  /**
   * Three counts of threads: threads that must still receive a fault, threads that must block at their start, and threads that
   * must be woken.
   */
  readonly due: Int32Array;
}

export const FAULTS = 'faults';
export const DUE = 0;
export const DUE_AT_START = 1;
export const ASLEEP = 2;

/**
 * The number of turns after which a woken thread has the fault. By then the thread has accepted all connections that arrived
 * while it was stopped, but has not finished their TLS handshakes.
 */
const TURNS_AWAKE = 5;

if (!isMainThread) {
  const { channel, due } = getEnvironmentData(FAULTS) as unknown as FaultChannel;
  if (isMine(due, DUE_AT_START)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  const faults = new BroadcastChannel(channel);
  faults.onmessage = (message) => {
    const { data: fault } = message as { data: Fault };
    if (!isMine(due, DUE)) return;
    if (fault === 'crash') throw new Error('injected by the test');
    if (fault === 'loop') loopForever();
    Atomics.store(due, ASLEEP, 1);
    Atomics.wait(due, ASLEEP, 1);
    afterTurns(TURNS_AWAKE, () => {
      if (fault === 'crash when woken') throw new Error('injected by the test');
      loopForever();
    });
  };
  faults.unref();
  await import('../../../../src/service/edge/threads/thread_main.js');
}

function isMine(due: Int32Array, place: number): boolean {
  if (Atomics.sub(due, place, 1) > 0) return true;
  Atomics.add(due, place, 1);
  return false;
}

function afterTurns(count: number, act: () => void): void {
  setImmediate(() => {
    if (count === 0) act();
    else afterTurns(count - 1, act);
  });
}
