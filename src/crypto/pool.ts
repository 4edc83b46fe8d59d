import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
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
import type { Verdict } from './verdict.js';

export type { EvmSignature, EvmVerifyJob, StarkVerifyJob } from './jobs.js';

/**
 * The work of {@link CryptoJobs}, done here and now when it is little and by the worker threads when it is much. An array
 * is returned as it is when the work was done here, so that a single job costs no turn of the event loop.
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
  #piscina: Piscina | undefined;
  readonly #pending = new Set<Promise<unknown>>();
  queued = 0;
  failures = 0;

  constructor({ threads, workerFile }: CryptoPoolOptions) {
    this.#threads = threads;
    if (threads === 0) return;
    const piscina = new Piscina({
      filename: workerFile ?? fileURLToPath(new URL('./worker.js', import.meta.url)),
      minThreads: threads,
      maxThreads: threads,
      // Flags of this process, such as a test runner's loaders, are not meant for the workers.
      execArgv: [],
      recordTiming: false,
    });
    // A thread that dies without a task has nobody to tell; its replacement is started either way.
    piscina.on('error', () => {
      this.failures += 1;
    });
    // Threads that fail while they start are not replaced: when none is left, nobody would take the waiting pieces.
    piscina.on('workerDestroy', () => {
      setImmediate(() => {
        if (piscina.threads.length > 0 || this.#piscina !== piscina) return;
        this.#piscina = undefined;
        void piscina.destroy();
      });
    });
    this.#piscina = piscina;
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
    await Promise.all(threads);
  }

  async close(): Promise<void> {
    const piscina = this.#piscina;
    this.#piscina = undefined;
    // Ending a thread inside native code aborts the process, and piscina's own close cuts running tasks off.
    await Promise.allSettled(this.#pending);
    await piscina?.destroy();
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
    if (this.#piscina === undefined || micros <= INLINE_MICROS_MAX) return kind.inline(jobs);
    const pieces = Math.max(1, Math.min(this.#threads, Math.floor(micros / PIECE_MICROS_MIN)));
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
    const piscina = this.#piscina;
    for (let attempt = 0; piscina !== undefined && attempt < WORKER_ATTEMPTS_MAX; attempt++) {
      const message = kind.encode(jobs);
      try {
        const options = { name: kind.name, transferList: [message.buffer as ArrayBuffer] };
        return kind.decode(await piscina.run(message, options));
      } catch {
        this.failures += 1;
      }
    }
    // A job that fails because of a bug of ours fails here too, where its error can be seen.
    return kind.inline(jobs);
  }
}
