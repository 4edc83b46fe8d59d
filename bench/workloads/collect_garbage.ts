import { isMainThread } from 'node:worker_threads';
import { createHeldBytes } from '../../scripts/load/held_memory.js';

// The module that is loaded into a service: it answers messages with the bytes that its main thread holds after a garbage
// collection.

if (isMainThread) {
  const heldBytes = createHeldBytes();
  process.on('message', () => process.send!(heldBytes()));
  // The channel must not keep the service from exiting.
  process.channel!.unref();
}
