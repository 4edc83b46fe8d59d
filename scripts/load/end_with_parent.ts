import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

// `--import` loads this module into every server. The module ends the server together with the load run. A killed load run cannot stop
// its server. But the load run's end of this pipe always closes at the end of the load run.
const PARENT_FD = 3;

if (isMainThread) {
  const parent = new Socket({ fd: PARENT_FD, readable: true, writable: false });
  parent.on('close', () => process.kill(process.pid, 'SIGKILL'));
  parent.on('error', () => {});
  parent.resume();
  parent.unref();
}
