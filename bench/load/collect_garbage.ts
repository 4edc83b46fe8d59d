import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

// Loaded into a service: collects its main thread's garbage for whoever asks, and answers with the bytes that are left on
// the heap and beside it.

if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  process.on('message', () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.send!(heapUsed + external);
  });
  // It must not keep a service that is to end.
  process.channel!.unref();
}
