import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

// `--import` loads this module into every server. The module stops the server when the load run ends. Even if the load run is
// killed, its end of this pipe closes.
const PARENT_FD = 3;

if (isMainThread) {
  const parent = new Socket({ fd: PARENT_FD, readable: true, writable: false });
  parent.on('close', () => process.kill(process.pid, 'SIGKILL'));
  parent.on('error', () => {});
  parent.resume();
  parent.unref();
}
