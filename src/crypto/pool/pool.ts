import { fileURLToPath } from 'node:url';
import type { EvmVerifyJob } from '../evm_verifier.js';
import type { StarkMessage } from '../stark/stark.js';
import type { StarkSignatureBytes } from '../stark/stark_ecdsa.js';
import { fillStarkTables } from '../stark/stark_tables.js';
import type { SignatureVerdict } from '../verdict.js';
import type { CryptoPool, CryptoPoolOptions } from './crypto_pool.js';
import { type CryptoJobs, createCryptoJobs, type StarkVerifyJob } from './jobs.js';
import { signEvmKind, signStarkKind, verifyEvmKind, verifyStarkKind } from './kinds.js';
import { doTogether, giveOut, joinedJobs, type Kind, QueuedWork, WorkQueue } from './queued_work.js';
import { ThreadHung, Threads } from './threads.js';
import { Turn } from './turn.js';
import { WARM_UP_DIGEST, WARM_UP_KEY, WARM_UP_MESSAGES } from './warm_up.js';

export type { EvmVerifyJob } from '../evm_verifier.js';
export type { CryptoPool, CryptoPoolOptions } from './crypto_pool.js';
export type { StarkVerifyJob } from './jobs.js';
export { ThreadHung } from './threads.js';

/** Creates a pool whose threads start at their first use, or by {@link CryptoPool.load}. */
export function openCryptoPool(options: CryptoPoolOptions): CryptoPool {
  return new WorkerPool(options);
}

/** Creates a pool, and waits until it is loaded. */
export async function createCryptoPool(options: CryptoPoolOptions): Promise<CryptoPool> {
  const pool = openCryptoPool(options);
  await pool.load();
  return pool;
}

/**
 * The largest amount of work that the calling thread does at a time: a whole batch, or waiting work in one turn of its event loop.
 * A round trip to a worker takes 0.2 to 0.4 ms, of which the calling thread spends 40 µs. So the calling thread answers a smaller
 * batch sooner than a worker.
 */
const INLINE_MICROS_MAX = 300;

/** The largest work in one message to a thread. Batches that share a message cost less than a message for each batch. */
const MESSAGE_MICROS_MAX = 5_000;

/** The smallest piece into which a batch is split. Each piece costs 40 µs. */
const PIECE_MICROS_MIN = 500;

/** The largest piece. A small batch may have to wait this long for a thread that works on a piece of a large batch. */
const PIECE_MICROS_MAX = 10_000;

/**
 * The factor for a batch's work in its rank, which is its arrival time plus this many times its work. A small batch therefore overtakes
 * large batches that arrived a short time before it, and large batches still get their turn.
 */
const WAIT_PER_WORK = 10;

/** The time limit of a piece. It is far above the largest piece, because a machine may be busy and a thread must start. */
const PIECE_MS_MAX = 5_000;

/** The largest number of attempts by workers at a piece. After the last attempt, the pool gives the piece up. */
const WORKER_ATTEMPTS_MAX = 2;

class WorkerPool implements CryptoPool {
  readonly here: CryptoJobs = createCryptoJobs();
  readonly #options: CryptoPoolOptions;
  readonly #threads: number;
  /** The threads; `undefined` before their start and after their end. */
  #workers: Threads | undefined;
  /** True when all work runs on the calling thread, because the pool was made without threads or is closed. */
  #isAlone: boolean;
  #loaded: Promise<void> | undefined;
  readonly #waiting = new WorkQueue();
  #helps = false;
  readonly #turn: Turn;
  #starkWarmed: Promise<void> | undefined;
  /** Functions to call when all work is done. */
  readonly #onDone: (() => void)[] = [];
  readonly #verifyEvm = verifyEvmKind(this.here);
  readonly #verifyStark = verifyStarkKind(this.here);
  queued = 0;
  failures = 0;
  readonly #onSettled = (count: number): void => {
    this.queued -= count;
    if (this.queued === 0) for (const call of this.#onDone.splice(0)) call();
  };

  constructor(options: CryptoPoolOptions) {
    const { threads, defer = setImmediate } = options;
    this.#options = options;
    this.#turn = new Turn(defer, (pieces, micros) => this.#handOn(pieces, micros));
    this.#threads = threads;
    this.#isAlone = threads === 0;
  }

  /** Returns the threads, and starts them if necessary. @returns `undefined` when all work runs on the calling thread */
  #startedThreads(): Threads | undefined {
    if (this.#isAlone || this.#workers !== undefined) return this.#workers;
    const { threads, workerFile, repeat } = this.#options;
    const workers = new Threads({
      count: threads,
      workerFile: workerFile ?? fileURLToPath(new URL('./worker.js', import.meta.url)),
      taskMsMax: PIECE_MS_MAX,
      ...(repeat && { repeat }),
      onIdleFailure: () => {
        this.failures += 1;
      },
      onAllLost: () => {
        this.#endThreads();
        void workers.close();
      },
    });
    this.#workers = workers;
    return workers;
  }

  verifyEvm(jobs: readonly EvmVerifyJob[]): SignatureVerdict[] | Promise<SignatureVerdict[]> {
    return this.#doJobs(this.#verifyEvm, jobs);
  }

  verifyStark(jobs: readonly StarkVerifyJob[]): SignatureVerdict[] | Promise<SignatureVerdict[]> {
    return this.#doJobs(this.#verifyStark, jobs);
  }

  signEvm(digests: Uint8Array, key: Uint8Array): Uint8Array | Promise<Uint8Array> {
    return this.#doJobs(signEvmKind(this.here, key), digests);
  }

  signStark(
    messages: readonly StarkMessage[],
    key: Uint8Array,
  ): StarkSignatureBytes[] | Promise<StarkSignatureBytes[]> {
    return this.#doJobs(signStarkKind(this.here, key), messages);
  }

  load(): Promise<void> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }

  async #load(): Promise<void> {
    this.here.verifyEvm([]);
    await this.#onEachThread(signEvmKind(this.here, WARM_UP_KEY), WARM_UP_DIGEST);
  }

  warmStark(): Promise<void> {
    this.#starkWarmed ??= Promise.all([
      this.#onEachThread(signStarkKind(this.here, WARM_UP_KEY), WARM_UP_MESSAGES),
      fillStarkTables(setImmediate),
    ]).then(() => {});
    return this.#starkWarmed;
  }

  /**
   * Does the jobs once on each thread, if all threads are idle. Makes one piece for each thread, and sends each piece to the thread
   * with the least work. A thread that fails is replaced like any failed thread.
   */
  #onEachThread<Jobs, Results>(kind: Kind<Jobs, Results>, jobs: Jobs): Promise<unknown> {
    const threads = this.#isAlone ? 0 : this.#threads;
    return Promise.allSettled(Array.from({ length: threads }, () => this.#queueForThread(kind, jobs, 0)));
  }

  async close(): Promise<void> {
    const workers = this.#workers;
    this.#endThreads();
    // The pool waits for running work, because ending a thread inside native code aborts the process. A hung thread delays the end.
    if (this.queued > 0) await new Promise<void>((resolve) => this.#onDone.push(resolve));
    await workers?.close();
  }

  #doJobs<Jobs, Results>(kind: Kind<Jobs, Results>, jobs: Jobs): Results | Promise<Results> {
    const count = kind.jobs.count(jobs);
    const micros = count * kind.jobMicros;
    if (this.#isDoneHere(micros)) {
      if (kind.atOnce === 1) return kind.inline(jobs);
      if (this.#turn.isRunning) return this.#queueIn(kind, jobs, rankOf(micros), this.#turn);
      this.#turn.begin();
      return kind.inline(jobs);
    }
    const pieces = Math.max(
      1,
      Math.min(this.#threads, Math.floor(micros / PIECE_MICROS_MIN)),
      Math.ceil(micros / PIECE_MICROS_MAX),
    );
    const rank = rankOf(micros);
    if (pieces === 1) return this.#queueForThread(kind, jobs, rank);
    const size = Math.ceil(count / pieces);
    const results: Promise<Results>[] = [];
    for (let at = 0; at < count; at += size)
      results.push(this.#queueForThread(kind, kind.jobs.part(jobs, at, Math.min(at + size, count)), rank));
    return Promise.all(results).then((parts) => kind.results.join(parts));
  }

  #isDoneHere(micros: number): boolean {
    return this.#isAlone || micros <= INLINE_MICROS_MAX;
  }

  /** Sends the pieces to an idle thread if they are worth a message. Otherwise does the pieces immediately. */
  #handOn(pieces: readonly QueuedWork[], micros: number): void {
    const workers = this.#isDoneHere(micros) ? undefined : this.#startedThreads();
    if (workers !== undefined && workers.idle > 0) void this.#runOnThreads(workers, pieces);
    else doTogether(pieces);
  }

  /** Queues the jobs for a thread. If the calling thread is free first, the calling thread does the jobs. */
  #queueForThread<Jobs, Results>(kind: Kind<Jobs, Results>, jobs: Jobs, rank: number): Promise<Results> {
    const result = this.#queueIn(kind, jobs, rank, this.#waiting);
    this.#goOn();
    return result;
  }

  #queueIn<Jobs, Results>(
    kind: Kind<Jobs, Results>,
    jobs: Jobs,
    rank: number,
    place: { add(piece: QueuedWork): void },
  ): Promise<Results> {
    const piece = new QueuedWork(kind, jobs, rank, this.#onSettled);
    this.queued += piece.leftCount;
    place.add(piece as QueuedWork);
    return piece.result;
  }

  /**
   * Gives waiting work to idle threads. When all threads have work, the calling thread does some of the waiting work in each turn of its
   * event loop.
   */
  #goOn(): void {
    const workers = this.#startedThreads();
    if (workers === undefined) return;
    while (workers.idle > 0 && this.#waiting.size > 0) {
      // The threads and the calling thread share the waiting work equally, so that all threads finish at the same time.
      const share = this.#waiting.micros / (this.#threads + 1);
      void this.#runOnThreads(workers, this.#waiting.takeTogether(Math.min(share, MESSAGE_MICROS_MAX)));
    }
    if (this.#helps || !this.#waiting.hasUntried) return;
    this.#helps = true;
    setImmediate(() => {
      this.#helps = false;
      const endMs = performance.now() + INLINE_MICROS_MAX / 1_000;
      this.#waiting.doSome(() => performance.now() < endMs);
      this.#goOn();
    });
  }

  async #runOnThreads(workers: Threads, pieces: readonly QueuedWork[]): Promise<void> {
    const { kind } = pieces[0]!;
    try {
      const jobs = joinedJobs(pieces);
      giveOut(pieces, kind.decode(await workers.run(kind.name, kind.encode(jobs))));
    } catch (error) {
      if (!this.#isAlone) this.failures += 1;
      for (const piece of pieces) this.#failPiece(piece, error);
    }
    this.#goOn();
  }

  #failPiece(piece: QueuedWork, fault: unknown): void {
    piece.faults.push(fault);
    if (!this.#isAlone && piece.faults.length < WORKER_ATTEMPTS_MAX) this.#waiting.add(piece);
    else giveUp(piece);
  }

  /** Forgets the threads, and withdraws their waiting work. */
  #endThreads(): void {
    this.#workers = undefined;
    this.#isAlone = true;
    for (const piece of this.#waiting.takeAll()) giveUp(piece);
  }
}

function rankOf(micros: number): number {
  return performance.now() + (WAIT_PER_WORK * micros) / 1_000;
}

/**
 * Gives up a piece. Unless a thread hung on the piece, the calling thread then does the piece, so that a bug in this program causes a
 * visible error.
 */
function giveUp(piece: QueuedWork): void {
  const hung = piece.faults.find((fault) => fault instanceof ThreadHung);
  if (hung === undefined) piece.doSome(() => true);
  else piece.fail(hung);
}
