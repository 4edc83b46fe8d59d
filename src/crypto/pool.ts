import { fileURLToPath } from 'node:url';
import type { Price } from '../model/price.js';
import type { TimeNs } from '../model/time.js';
import * as batch from './batch.js';
import {
  type CryptoJobs,
  createCryptoJobs,
  type EvmSignature,
  type EvmVerifyJob,
  type StarkVerifyJob,
} from './jobs.js';
import { type StarkMessage, starkPriceMessage } from './stark.js';
import type { StarkSignature } from './stark_ecdsa.js';
import { type Repeat, ThreadHung, Threads } from './threads.js';
import type { Verdict } from './verdict.js';

export type { EvmSignature, EvmVerifyJob, StarkVerifyJob } from './jobs.js';
export { ThreadHung } from './threads.js';

/**
 * The work of {@link CryptoJobs}, done here and now when it is little and by the worker threads when it is much. An array
 * is returned as it is when the work was done here, so that a single job costs no turn of the event loop.
 *
 * A promise rejects with {@link ThreadHung} when two threads in turn hung with the work: it is not tried on the calling
 * thread, which may hang with it too.
 */
export interface CryptoPool {
  verifyEvm(jobs: readonly EvmVerifyJob[]): Verdict[] | Promise<Verdict[]>;
  verifyStark(jobs: readonly StarkVerifyJob[]): Verdict[] | Promise<Verdict[]>;
  signEvm(digests: readonly Uint8Array[], key: Uint8Array): EvmSignature[] | Promise<EvmSignature[]>;
  signStark(messages: readonly StarkMessage[], key: Uint8Array): StarkSignature[] | Promise<StarkSignature[]>;
  /** Jobs that are with the workers or waiting for one. */
  readonly queued: number;
  /** Batches that a worker failed to answer, since the start. Each was done again. */
  readonly failures: number;
  /** Waits for the work under way, then ends the threads. What is asked for afterwards is done on the calling thread. */
  close(): Promise<void>;
}

export interface CryptoPoolOptions {
  /** How many worker threads; 0 does everything on the calling thread. */
  readonly threads: number;
  /** The module that runs in the threads, where it is not `worker.js`. */
  readonly workerFile?: string;
  /** What counts the time after which a thread counts as hung, where it is not a timer. */
  readonly repeat?: Repeat;
}

/** Starts the threads and lets each of them, and the calling one, fill its tables before the first real job. */
export async function createCryptoPool(options: CryptoPoolOptions): Promise<CryptoPool> {
  const pool = new WorkerPool(options);
  await pool.warm();
  return pool;
}

/**
 * Up to this much work is done on the calling thread. A round trip through a worker takes 0.2 to 0.4 ms until the answer
 * and 40 µs of this thread's time, so up to there a batch is answered sooner here.
 */
const INLINE_MICROS_MAX = 300;

/** A batch is cut up among the threads into pieces of at least this much work, against 40 µs that a piece costs. */
const PIECE_MICROS_MIN = 500;

/** And into pieces of at most this much, so that none comes near the time after which its thread counts as hung. */
const PIECE_MICROS_MAX = 100_000;

/** Fifty times what the largest piece takes: room for a machine that is that much busier, and for a thread's start. */
const PIECE_MS_MAX = 5_000;

/** A piece that a worker did not answer is given to the workers once more, then done on the calling thread. */
const WORKER_ATTEMPTS_MAX = 2;

/** Enough digits of everyday prices that each window of the tables is met by one of them. */
const WARM_UP_MESSAGES = [7n, 11n, 13n].map(
  (divisor) => starkPriceMessage('WARMUP', 'warmu', 0n as TimeNs, (10n ** 24n / divisor) as Price)!,
);

/** How one kind of job is done, here and elsewhere. */
interface Kind<Job, Result> {
  /** The function in `worker.ts`. */
  readonly name: string;
  /** What one job takes with full tables, on two shared cores and Node 20. */
  readonly jobMicros: number;
  readonly inline: (jobs: readonly Job[]) => Result[];
  readonly encode: (jobs: readonly Job[]) => Uint8Array;
  readonly decode: (answer: Uint8Array) => Result[];
}

class WorkerPool implements CryptoPool {
  readonly #jobs: CryptoJobs = createCryptoJobs();
  readonly #threads: number;
  /** `undefined` when everything is done on the calling thread, from the start or since the pool was closed. */
  #workers: Threads | undefined;
  readonly #pending = new Set<Promise<unknown>>();
  queued = 0;
  failures = 0;

  constructor({ threads, workerFile, repeat }: CryptoPoolOptions) {
    this.#threads = threads;
    if (threads === 0) return;
    const workers = new Threads({
      count: threads,
      workerFile: workerFile ?? fileURLToPath(new URL('./worker.js', import.meta.url)),
      taskMsMax: PIECE_MS_MAX,
      ...(repeat && { repeat }),
      onIdleFailure: () => {
        this.failures += 1;
      },
      onAllLost: () => {
        this.#workers = undefined;
        workers.withdraw();
        void workers.close();
      },
    });
    this.#workers = workers;
  }

  verifyEvm(jobs: readonly EvmVerifyJob[]): Verdict[] | Promise<Verdict[]> {
    const kind: Kind<EvmVerifyJob, Verdict> = {
      name: 'verifyEvm',
      jobMicros: 60,
      inline: (these) => this.#jobs.verifyEvm(these),
      encode: batch.encodeVerifyEvm,
      decode: batch.decodeVerdicts,
    };
    return this.#do(kind, jobs);
  }

  verifyStark(jobs: readonly StarkVerifyJob[]): Verdict[] | Promise<Verdict[]> {
    const kind: Kind<StarkVerifyJob, Verdict> = {
      name: 'verifyStark',
      jobMicros: 220,
      inline: (these) => this.#jobs.verifyStark(these),
      encode: batch.encodeVerifyStark,
      decode: batch.decodeVerdicts,
    };
    return this.#do(kind, jobs);
  }

  signEvm(digests: readonly Uint8Array[], key: Uint8Array): EvmSignature[] | Promise<EvmSignature[]> {
    const kind: Kind<Uint8Array, EvmSignature> = {
      name: 'signEvm',
      jobMicros: 45,
      inline: (these) => this.#jobs.signEvm(these, key),
      encode: (these) => batch.encodeSignEvm(these, key),
      decode: batch.decodeEvmSignatures,
    };
    return this.#do(kind, digests);
  }

  signStark(
    messages: readonly StarkMessage[],
    key: Uint8Array,
  ): StarkSignature[] | Promise<StarkSignature[]> {
    return this.#do(this.#signStark(key), messages);
  }

  async warm(): Promise<void> {
    const kind = this.#signStark(Buffer.alloc(32, 1));
    // A piece goes to the thread with the least to do, so as many pieces as threads reach each of them.
    const threads = Array.from({ length: this.#threads }, () => this.#doByWorker(kind, WARM_UP_MESSAGES));
    kind.inline(WARM_UP_MESSAGES);
    // One that does not even do this is replaced like any other.
    await Promise.allSettled(threads);
  }

  async close(): Promise<void> {
    const workers = this.#workers;
    this.#workers = undefined;
    workers?.withdraw();
    // Ending a thread inside native code aborts the process. One that hangs holds this up for no longer than its deadline.
    await Promise.allSettled(this.#pending);
    await workers?.close();
  }

  #signStark(key: Uint8Array): Kind<StarkMessage, StarkSignature> {
    return {
      name: 'signStark',
      jobMicros: 280,
      inline: (these) => this.#jobs.signStark(these, key),
      encode: (these) => batch.encodeSignStark(these, key),
      decode: batch.decodeStarkSignatures,
    };
  }

  #do<Job, Result>(kind: Kind<Job, Result>, jobs: readonly Job[]): Result[] | Promise<Result[]> {
    const micros = jobs.length * kind.jobMicros;
    if (this.#workers === undefined || micros <= INLINE_MICROS_MAX) return kind.inline(jobs);
    const pieces = Math.max(
      1,
      Math.min(this.#threads, Math.floor(micros / PIECE_MICROS_MIN)),
      Math.ceil(micros / PIECE_MICROS_MAX),
    );
    if (pieces === 1) return this.#doByWorker(kind, jobs);
    const size = Math.ceil(jobs.length / pieces);
    const results: Promise<Result[]>[] = [];
    for (let at = 0; at < jobs.length; at += size) {
      results.push(this.#doByWorker(kind, jobs.slice(at, at + size)));
    }
    return Promise.all(results).then((parts) => parts.flat());
  }

  #doByWorker<Job, Result>(kind: Kind<Job, Result>, jobs: readonly Job[]): Promise<Result[]> {
    this.queued += jobs.length;
    const result = this.#attempt(kind, jobs).finally(() => {
      this.queued -= jobs.length;
      this.#pending.delete(result);
    });
    this.#pending.add(result);
    return result;
  }

  async #attempt<Job, Result>(kind: Kind<Job, Result>, jobs: readonly Job[]): Promise<Result[]> {
    let fault: unknown;
    for (let attempt = 0; this.#workers !== undefined && attempt < WORKER_ATTEMPTS_MAX; attempt++) {
      try {
        return kind.decode(await this.#workers.run(kind.name, kind.encode(jobs)));
      } catch (error) {
        if (this.#workers !== undefined) this.failures += 1;
        fault = error;
      }
    }
    if (fault instanceof ThreadHung) throw fault;
    // A job that fails because of a bug of ours fails here too, where its error can be seen.
    return kind.inline(jobs);
  }
}
