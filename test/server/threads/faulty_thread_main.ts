import { BroadcastChannel, getEnvironmentData } from 'node:worker_threads';
import { EventOutbox } from '../../../src/server/threads/event_outbox.js';
import type { ThreadEvent } from '../../../src/server/threads/thread_messages.js';

/**
 * What a test does to one serving thread, the first to receive it: the thread crashes, waits until the number is not 0, or
 * loops for ever, at once or in the handler of uWebSockets.js for such an event.
 */
export type Fault = 'crash' | 'loop' | { readonly loopAt: ThreadEvent['on'] } | Int32Array;

/** What the thread posts just before the fault. */
export const INJECTED = 'injected';

/** Under {@link FAULTS} of the environment data of a test's threads. */
export interface FaultChannel {
  readonly channel: string;
  /** How many threads are still to take a fault. */
  readonly faultsLeft: Int32Array;
}

export const FAULTS = 'faults';

await import('../../../src/server/threads/thread_main.js');
const { channel, faultsLeft } = getEnvironmentData(FAULTS) as unknown as FaultChannel;
const faults = new BroadcastChannel(channel);
faults.onmessage = (message) => {
  const { data: fault } = message as { data: Fault | typeof INJECTED };
  if (fault === INJECTED) return;
  if (Atomics.sub(faultsLeft, 0, 1) <= 0) {
    Atomics.add(faultsLeft, 0, 1);
    return;
  }
  faults.postMessage(INJECTED);
  if (fault === 'crash') throw new Error('injected by the test');
  if (fault === 'loop') loop();
  if (fault instanceof Int32Array) Atomics.wait(fault, 0, 0);
  else loopAt(fault.loopAt);
};
faults.unref();

function loopAt(on: ThreadEvent['on']): void {
  const { post } = EventOutbox.prototype;
  EventOutbox.prototype.post = function (event, textLength) {
    if (event.on === on) {
      // Only once, or each connection that ends with the thread would make it hang anew.
      EventOutbox.prototype.post = post;
      loop();
    }
    post.call(this, event, textLength);
  };
}

function loop(): never {
  for (;;);
}
