import type { CryptoJobs } from './jobs.js';
import type { Repeat } from './threads.js';

/** The methods for many jobs. Their results are promises when other threads do the work. */
type SharedJobs = {
  [Name in Exclude<keyof CryptoJobs, 'signOneEvm' | 'hashStark'>]: (
    ...jobs: Parameters<CryptoJobs[Name]>
  ) => ReturnType<CryptoJobs[Name]> | Promise<ReturnType<CryptoJobs[Name]>>;
};

/**
 * A pool that does the work of {@link CryptoJobs}. A small batch runs on the calling thread, and a large batch runs on the worker
 * threads. While all threads have work, the calling thread does some waiting jobs in each turn of its event loop. A batch that
 * runs immediately on the calling thread returns an array instead of a promise. So a single job costs no turn of the event loop.
 *
 * A promise rejects with {@link ThreadHung} after two threads, one after the other, hung on the batch. The calling thread does not try
 * such a batch, because the calling thread could hang too.
 */
export interface CryptoPool extends SharedJobs {
  /**
   * Starts the threads, and waits until each has done a job. Also makes the calling thread's verifier, so that no price waits for it.
   * Without this call, the first large batch starts the threads, and the first price makes the verifier. Only the first call has an effect.
   */
  load(): Promise<void>;
  /** Fills the tables for Stark prices on all threads, once. Without this call, the first Stark price on a thread takes up to 0.2 s. */
  warmStark(): Promise<void>;
  /** Does any amount of work on the calling thread. */
  readonly here: CryptoJobs;
  /** The number of jobs that workers are doing, plus the number of jobs that wait for a worker. */
  readonly queued: number;
  /** The number of batches, since the start, that a worker did not answer. The pool did each such batch again. */
  readonly failures: number;
  /** Waits for running work, and then ends the threads. Later work runs on the calling thread. */
  close(): Promise<void>;
}

export interface CryptoPoolOptions {
  /** The number of worker threads. With 0 all work runs on the calling thread. */
  readonly threads: number;
  /** The path of the module that runs in the threads; the default is `worker.js`. */
  readonly workerFile?: string;
  /** The timer for the deadline of a task. A thread that misses the deadline counts as hung. Tests replace this timer. */
  readonly repeat?: Repeat;
  /** Calls back at the end of the turn of the event loop; the default is `setImmediate`. */
  readonly defer?: (callback: () => void) => void;
}
