import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { Piscina } from 'piscina';

export interface ThreadsOptions {
  readonly count: number;
  /** The path of the module whose functions run in the threads. */
  readonly workerFile: string;
  /** The time limit of a task, in ms. */
  readonly taskMsMax: number;
  readonly repeat?: Repeat;
  /** Called when a thread ended while it had no task. The thread is replaced. */
  readonly onIdleFailure: () => void;
  /** Called when no thread is left and each new thread fails at its start. */
  readonly onAllLost: () => void;
}

/** Calls `tick` at an interval, until the returned function is called. The default uses `setInterval`. */
export type Repeat = (tick: () => void, intervalMs: number) => () => void;

/** The error for a thread that did not answer within `taskMsMax`. The pool has ended that thread and starts a new thread. */
export class ThreadHung extends Error {
  override readonly name = 'ThreadHung';
}

const loadHere = createRequire(import.meta.url);

/**
 * The deadline, in ticks of a timer. A pause of the process or of this thread also pauses the ticks. So a pause does not make the
 * workers count as hung.
 */
const TICKS = 10;

/** Runs functions of a module in worker threads. Each thread runs one function at a time. A thread that hangs is ended. */
export class Threads {
  readonly #options: ThreadsOptions;
  readonly #piscina: Piscina;
  readonly #running = new Set<{ ticks: number; readonly end: AbortController }>();
  #idle: number;
  #stopTicks: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#idle = options.count;
    // A process that starts its threads later loads the package later, which takes 10 ms.
    const { Piscina: Pool } = loadHere('piscina') as typeof import('piscina');
    const piscina = new Pool({
      filename: options.workerFile,
      minThreads: options.count,
      maxThreads: options.count,
      // The empty list keeps flags of this process, such as a test runner's loaders, out of the workers.
      execArgv: [],
      recordTiming: false,
    });
    // A thread that dies without a task rejects no promise, so only this event reports the death. Piscina replaces the thread.
    piscina.on('error', options.onIdleFailure);
    // Piscina does not replace threads that fail at their start. If no thread is left, no thread will take the waiting tasks.
    piscina.on('workerDestroy', () => {
      setImmediate(() => {
        if (piscina.threads.length === 0 && !this.#isClosed) options.onAllLost();
      });
    });
    this.#piscina = piscina;
  }

  /** The number of threads without a task. Only idle threads receive a task, so the task's deadline starts immediately. */
  get idle(): number {
    return this.#idle;
  }

  /**
   * Calls the function with this name on an idle thread. The message moves to that thread, so the caller can no longer use the
   * message.
   * @throws ThreadHung, or the error of the function or its thread.
   */
  async run(name: string, message: Uint8Array): Promise<Uint8Array> {
    assert(this.#idle > 0, 'no thread is idle');
    this.#idle--;
    const task = { ticks: 0, end: new AbortController() };
    this.#running.add(task);
    const { repeat = repeatByTimer, taskMsMax } = this.#options;
    this.#stopTicks ??= repeat(() => this.#tick(), taskMsMax / TICKS);
    try {
      const transferList = [message.buffer as ArrayBuffer];
      return await this.#piscina.run(message, { name, transferList, signal: task.end.signal });
    } catch (error) {
      throw task.end.signal.aborted ? new ThreadHung(`no answer within ${taskMsMax} ms`) : error;
    } finally {
      this.#running.delete(task);
      this.#idle++;
    }
  }

  /** Ends the threads. All threads must be idle, because ending a thread inside native code aborts the process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTicks?.();
    await this.#piscina.destroy();
  }

  /**
   * Ends hung threads. Ending a thread inside native code aborts the process if the native code later returns. But a thread that
   * takes much longer than the largest task is in an endless loop, and would occupy a core forever.
   */
  #tick(): void {
    for (const task of this.#running) if (++task.ticks > TICKS) task.end.abort();
    if (this.#running.size > 0) return;
    this.#stopTicks?.();
    this.#stopTicks = undefined;
  }
}

/** Calls `tick` by a timer that does not keep the process alive. */
const repeatByTimer: Repeat = (tick, intervalMs) => {
  const timer = setInterval(tick, intervalMs).unref();
  return () => clearInterval(timer);
};
