import { isMainThread } from 'node:worker_threads';
import { createHeldBytes } from '../../scripts/load/held_memory.js';

// The bench loads this module into a service. The module answers each message with the number of bytes that the service's main thread
// uses after a garbage collection.

if (isMainThread) {
  const heldBytes = createHeldBytes();
  process.on('message', () => process.send!(heldBytes()));
  // Without this call, the channel would keep the service from exiting.
  process.channel!.unref();
}
