import { Session } from 'node:inspector';
import type { Worker } from 'node:worker_threads';

/**
 * Makes a thread evaluate an expression at once, in the middle of its JavaScript: also in an endless loop or while it waits on
 * shared memory. The inspector is the only way: everything else waits for the thread's event loop. A thread inside native code
 * evaluates the expression when it returns from there.
 * @returns a primitive value, when the expression has been evaluated; `undefined` when that failed, or the thread has ended.
 */
export function interrupt(worker: Worker, expression: string): Promise<unknown> {
  const session = new Session();
  session.connect();
  return new Promise<unknown>((resolve) => {
    session.on('NodeWorker.attachedToWorker', ({ params }) => {
      const { sessionId, workerInfo } = params;
      // Apart from the title, there are only numbers of the inspector's own.
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
