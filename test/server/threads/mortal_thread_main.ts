import { BroadcastChannel, getEnvironmentData } from 'node:worker_threads';
import { EventOutbox } from '../../../src/server/threads/event_outbox.js';
import type { ThreadEvent } from '../../../src/server/threads/thread_messages.js';

/**
 * What a test does to one serving thread, whichever receives it first: it dies, waits until the number is not 0, or goes
 * into a loop without an end, at once or in the handler of uWebSockets.js that tells of such an event.
 */
export type Fate = 'die' | 'loop' | { readonly loopAt: ThreadEvent['on'] } | Int32Array;

/** What the thread says to all just before its fate comes true. */
export const STRUCK = 'struck';

/** The environment data that the threads of a test find. */
export interface MortalData {
  readonly channel: string;
  /** How many threads are still to be struck. */
  readonly fatesLeft: Int32Array;
}

await import('../../../src/server/threads/thread_main.js');
const { channel, fatesLeft } = getEnvironmentData('mortal') as unknown as MortalData;
const fates = new BroadcastChannel(channel);
fates.onmessage = (message) => {
  const { data: fate } = message as { data: Fate | typeof STRUCK };
  if (fate === STRUCK) return;
  if (Atomics.sub(fatesLeft, 0, 1) <= 0) {
    Atomics.add(fatesLeft, 0, 1);
    return;
  }
  fates.postMessage(STRUCK);
  if (fate === 'die') throw new Error('struck by the test');
  if (fate === 'loop') loop();
  if (fate instanceof Int32Array) Atomics.wait(fate, 0, 0);
  else loopAt(fate.loopAt);
};
fates.unref();

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
