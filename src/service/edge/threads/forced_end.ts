import type { Worker } from 'node:worker_threads';
import { settledWithin } from './deadline.js';
import { interrupt } from './interrupt.js';
import { CLOSE_FUNCTION } from './thread_messages.js';

/**
 * The longest time in which a thread may run one more turn of its event loop. Some sockets can only be closed in a turn. After this time,
 * the main thread abandons the thread.
 */
const LAST_TURN_MS_MAX = 5_000;
/** An expression that blocks the thread without using a core, when the thread evaluates it in the middle of an endless loop. */
const SLEEP_FOR_EVER = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';

/**
 * Ends a thread in any state of its JavaScript. The end of a thread with open connections would abort the process, because each connection
 * is a handle of the thread's libuv loop, and a loop with open handles cannot be closed. So the function closes the connections first. TLS
 * handshakes that wait for their turn can only be closed in a turn of the loop. A thread that has such handshakes and runs no turn stays
 * abandoned until the process ends.
 * @param exited resolves when the thread has ended
 * @returns when the thread has ended or is abandoned
 */
export async function endByForce(worker: Worker, exited: Promise<void>): Promise<void> {
  let hasExited = false;
  void exited.then(() => {
    hasExited = true;
  });
  const openSockets = await interrupt(worker, `${CLOSE_FUNCTION}()`);
  if (!openSockets) {
    await worker.terminate();
    return;
  }
  await settledWithin(LAST_TURN_MS_MAX, exited);
  if (hasExited) return;
  void interrupt(worker, SLEEP_FOR_EVER);
  worker.unref();
}
