import type { Worker } from 'node:worker_threads';
import { within } from './deadline.js';
import { interrupt } from './interrupt.js';
import { CLOSE_FUNCTION } from './thread_messages.js';

/** How long a thread with sockets that only a turn of its event loop closes has for that turn, before it is left to itself. */
const LAST_TURN_MS_MAX = 5_000;
/** Evaluated in the middle of a loop without an end it leaves the core to others. */
const SLEEP_FOR_EVER = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';

/**
 * Ends a thread whatever its JavaScript does. Ending it with open connections would abort the process: the loop of
 * libuv, which each of them is a handle of, cannot be closed. TLS handshakes that wait for their turn can only be closed in a turn of
 * that loop. A thread that has some and does not turn is left to itself until the process ends.
 * @param exited resolves when the thread has ended
 * @returns when it has ended, or is left to itself
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
  await within(LAST_TURN_MS_MAX, exited);
  if (hasExited) return;
  void interrupt(worker, SLEEP_FOR_EVER);
  worker.unref();
}
