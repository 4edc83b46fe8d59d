import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { createHeldBytes } from './held_memory.js';

// A load run loads this module into a server. For each message, the module collects the garbage of the server's main thread, returns the
// free memory of the C library to the system, and answers with the number of bytes that the thread holds. Otherwise new connections use
// memory that the start has freed, in some runs 6 MiB.

if (isMainThread) {
  const heldBytes = createHeldBytes();
  const koffi = createRequire(import.meta.url)('koffi') as {
    load(library: string): { func(declaration: string): (...args: number[]) => number };
  };
  const trim = koffi.load('libc.so.6').func('int malloc_trim(size_t)');
  process.on('message', () => {
    const bytes = heldBytes();
    trim(0);
    process.send!(bytes);
  });
  // Without this call, the channel would keep the server from exiting.
  process.channel!.unref();
}
