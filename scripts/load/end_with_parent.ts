import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

// Loaded into every server with `--import`. A killed load run cannot stop its server, but its end of this pipe closes whenever
// the run ends.
const PARENT_FD = 3;

if (isMainThread) {
  const parent = new Socket({ fd: PARENT_FD, readable: true, writable: false });
  parent.on('close', () => process.kill(process.pid, 'SIGKILL'));
  parent.on('error', () => {});
  parent.resume();
  parent.unref();
}
