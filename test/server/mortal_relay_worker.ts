import { BroadcastChannel, getEnvironmentData } from 'node:worker_threads';
import '../../src/server/relay_worker.js';

/** What a test does to one relay thread, whichever hears of it first: it dies, or hangs until the number is not 0. */
export type Fate = 'die' | Int32Array;

/** The environment data that the threads of a test find. */
export interface MortalData {
  readonly channel: string;
  /** How many threads are still to be struck. */
  readonly fatesLeft: Int32Array;
}

const { channel, fatesLeft } = getEnvironmentData('mortal') as unknown as MortalData;
const fates = new BroadcastChannel(channel);
fates.onmessage = (message) => {
  const { data: fate } = message as { data: Fate };
  if (Atomics.sub(fatesLeft, 0, 1) <= 0) Atomics.add(fatesLeft, 0, 1);
  else if (fate === 'die') throw new Error('struck by the test');
  else Atomics.wait(fate, 0, 0);
};
fates.unref();
