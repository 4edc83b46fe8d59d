import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

// Loaded into every server with `--import`. A load run that is killed cannot stop its server. But its end of this pipe closes
// when it ends, for whatever reason.
const PARENT_FD = 3;

if (isMainThread) {
  const parent = new Socket({ fd: PARENT_FD, readable: true, writable: false });
  parent.on('close', () => process.kill(process.pid, 'SIGKILL'));
  parent.on('error', () => {});
  parent.resume();
  parent.unref();
}
