import { BroadcastChannel, getEnvironmentData, isMainThread } from 'node:worker_threads';

/**
 * The fault of a single thread, which is the first to receive it. The thread crashes, or loops forever. With `when woken` it
 * first stops until it is woken, and has the fault some turns of its event loop later.
 */
export type Fault = 'crash' | 'loop' | 'crash when woken' | 'loop when woken';

/** The name of the channel for faults. The environment data of a test's threads has this name under {@link FAULTS}. */
export interface FaultChannel {
  readonly channel: string;
  /**
   * Three numbers of threads: those that must still take a fault, those that must stop when they start, and those that must be
   * woken.
   */
  readonly due: Int32Array;
}

export const FAULTS = 'faults';
export const DUE = 0;
export const DUE_AT_START = 1;
export const ASLEEP = 2;

/**
 * The number of turns after which a woken thread has the fault. By then it has accepted all connections that arrived while it
 * was stopped, but has not finished their TLS handshakes.
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
    if (fault === 'loop') loop();
    Atomics.store(due, ASLEEP, 1);
    Atomics.wait(due, ASLEEP, 1);
    afterTurns(TURNS_AWAKE, () => {
      if (fault === 'crash when woken') throw new Error('injected by the test');
      loop();
    });
  };
  faults.unref();
  await import('../../../src/edge/threads/thread_main.js');
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

function loop(): never {
  for (;;);
}
