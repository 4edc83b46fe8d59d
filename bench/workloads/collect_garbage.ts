import { isMainThread } from 'node:worker_threads';
import { createHeldBytes } from '../../scripts/load/held_memory.js';

// Loaded into a service: answers whoever asks with what its main thread holds when its garbage has been collected.

if (isMainThread) {
  const heldBytes = createHeldBytes();
  process.on('message', () => process.send!(heldBytes()));
  // It must not keep a service that is to end.
  process.channel!.unref();
}
