import { Session } from 'node:inspector';
import type { Worker } from 'node:worker_threads';

/**
 * Has a thread evaluate an expression at once, in the middle of whatever its JavaScript does: also in a loop without an end or
 * while it waits on shared memory. The inspector is the only way in: everything else waits for the thread's event loop.
 * A thread that is inside native code evaluates it when it comes back from there.
 * @returns a primitive value, when it has been evaluated; `undefined` when that failed, or the thread has ended.
 */
export function interrupt(worker: Worker, expression: string): Promise<unknown> {
  const session = new Session();
  session.connect();
  return new Promise<unknown>((resolve) => {
    session.on('NodeWorker.attachedToWorker', ({ params }) => {
      const { sessionId, workerInfo } = params;
      // Beside the title, all there is are numbers of the inspector's own.
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
