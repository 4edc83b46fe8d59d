import { Session } from 'node:inspector';
import type { Worker } from 'node:worker_threads';

/**
 * Makes a thread evaluate an expression immediately, in the middle of its JavaScript, even in an endless loop or while the thread
 * waits on shared memory. Only the inspector can do this, because all other messages wait for the thread's event loop. A thread
 * inside native code evaluates the expression when the native code returns.
 * @returns a primitive value, when the thread has evaluated the expression; `undefined` when the evaluation failed or the thread has
 * ended
 */
export function interrupt(worker: Worker, expression: string): Promise<unknown> {
  const session = new Session();
  session.connect();
  return new Promise<unknown>((resolve) => {
    session.on('NodeWorker.attachedToWorker', ({ params }) => {
      const { sessionId, workerInfo } = params;
      // Only the title identifies the thread, because the inspector assigns arbitrary numbers to the other fields.
      if (!workerInfo.title.startsWith(`[worker ${worker.threadId}]`)) return;
      const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } });
      session.post('NodeWorker.sendMessageToWorker', { sessionId, message });
    });
    session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
      const { result } = JSON.parse(params.message) as { result?: { result?: { value?: unknown } } };
      resolve(result?.result?.value);
    });
    session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
    worker.once('exit', () => resolve(undefined));
  }).finally(() => session.disconnect());
}
