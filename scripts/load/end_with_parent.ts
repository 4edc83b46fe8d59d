import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

// This module is loaded into every server with `--import`, and ends the server with the load run. A killed load run cannot
// stop its server. But the load run's end of this pipe closes whenever the load run ends.
const PARENT_FD = 3;

if (isMainThread) {
  const parent = new Socket({ fd: PARENT_FD, readable: true, writable: false });
  parent.on('close', () => process.kill(process.pid, 'SIGKILL'));
  parent.on('error', () => {});
  parent.resume();
  parent.unref();
}
