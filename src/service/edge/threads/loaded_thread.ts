import { Worker } from 'node:worker_threads';
import type { ThreadData, ThreadEvent } from './thread_messages.js';
import { createLivenessMemory } from './watchdog.js';

/**
 * A thread that has loaded all modules of an edge and waits for its start. Such a start takes 10 % of the time of a start with loading.
 */
export interface LoadedThread {
  readonly worker: Worker;
  readonly liveness: SharedArrayBuffer;
  /**
   * Resolves when the thread has loaded.
   * @throws Error when the thread ends before that
   */
  readonly loaded: Promise<void>;
}

/**
 * Loads a thread.
 * @param allowedSha256 for `loadWebSockets`
 * @param fillsStark true to fill the tables for Stark prices too, which takes almost a second
 */
export function loadThread(allowedSha256: string | undefined, fillsStark: boolean): LoadedThread {
  const liveness = createLivenessMemory();
  const workerData: ThreadData = { liveness, allowedSha256, fillsStark };
  const worker = new Worker(new URL('./thread_main.js', import.meta.url), {
    workerData,
    execArgv: [],
  });
  const loaded = whenLoaded(worker);
  // The caller may not handle this promise, so a rejection must not become an uncaught exception.
  loaded.catch(() => {});
  return { worker, liveness, loaded };
}

/**
 * Resolves when the thread has loaded. The function listens immediately, because Node loses a message that a thread posts without
 * a listener.
 */
function whenLoaded(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const onMessage = ([event]: readonly ThreadEvent[]) => {
      if (event?.on === 'loaded') end(resolve);
    };
    const onError = (error: Error) => end(() => reject(error));
    const onExit = () => end(() => reject(new Error('a thread ended before it was loaded')));
    const end = (settle: () => void) => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      settle();
    };
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  });
}
