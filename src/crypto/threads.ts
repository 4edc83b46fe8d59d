import { Piscina } from 'piscina';

export interface ThreadsOptions {
  readonly count: number;
  /** The module whose functions run in the threads. */
  readonly workerFile: string;
  /** How long one task may take. */
  readonly taskMsMax: number;
  readonly repeat?: Repeat;
  /** A thread ended while it had no task; it is replaced. */
  readonly onIdleFailure: () => void;
  /** No thread is left and no new one starts: they fail at their start. */
  readonly onAllLost: () => void;
}

interface WaitingTask {
  readonly rank: number;
  readonly start: () => void;
  readonly withdraw: (error: Error) => void;
}

/** Calls a function at an interval until the function that it returns is called. `setInterval` unless given. */
export type Repeat = (tick: () => void, intervalMs: number) => () => void;

/** A thread did not answer within `taskMsMax`; it was ended, and another one is started in its place. */
export class ThreadHung extends Error {
  override readonly name = 'ThreadHung';
}

/**
 * The deadline is this many ticks of a timer. When the whole process, or this thread, was stopped for a while, the ticks
 * stopped too, and the workers do not count as hung.
 */
const TICKS = 10;

/** Runs functions of a module in worker threads, one at a time in each, and ends a thread that hangs. */
export class Threads {
  readonly #options: ThreadsOptions;
  readonly #piscina: Piscina;
  /** Tasks that no thread has taken. Their deadlines have not started, so piscina's own queue stays empty. */
  readonly #waiting: WaitingTask[] = [];
  readonly #running = new Set<{ ticks: number; readonly end: AbortController }>();
  #idle: number;
  #stopTicks: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#idle = options.count;
    const piscina = new Piscina({
      filename: options.workerFile,
      minThreads: options.count,
      maxThreads: options.count,
      // The workers do not inherit flags of this process, such as a test runner's loaders.
      execArgv: [],
      recordTiming: false,
    });
    // A thread that dies without a task fails no promise, so only this event reports it. Piscina replaces it.
    piscina.on('error', options.onIdleFailure);
    // Threads that fail at their start are not replaced. When none is left, no thread would take the waiting tasks.
    piscina.on('workerDestroy', () => {
      setImmediate(() => {
        if (piscina.threads.length === 0 && !this.#isClosed) options.onAllLost();
      });
    });
    this.#piscina = piscina;
  }

  /**
   * Calls the function of that name with a message, which moves to the thread.
   * @param rank of the tasks that wait the one with the lowest is next, and of equal ones the first
   * @throws ThreadHung, or the error of the function or its thread.
   */
  async run(name: string, message: Uint8Array, rank: number): Promise<Uint8Array> {
    if (this.#idle > 0) this.#idle--;
    else await new Promise<void>((start, withdraw) => this.#wait({ rank, start, withdraw }));
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
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle++;
      else next.start();
    }
  }

  #wait(task: WaitingTask): void {
    const later = this.#waiting.findIndex(({ rank }) => rank > task.rank);
    if (later < 0) this.#waiting.push(task);
    else this.#waiting.splice(later, 0, task);
  }

  /** Fails every task that no thread has taken yet. */
  withdraw(): void {
    for (const { withdraw } of this.#waiting.splice(0)) withdraw(new Error('the threads are being closed'));
  }

  /** Ends the threads, which must be idle: ending one inside native code aborts the process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTicks?.();
    await this.#piscina.destroy();
  }

  /**
   * Ends hung threads. To end a thread inside native code that returns later aborts the process. But a thread that takes so
   * much longer than the largest task is in an endless loop, which would occupy a core for good.
   */
  #tick(): void {
    for (const task of this.#running) if (++task.ticks > TICKS) task.end.abort();
    if (this.#running.size > 0) return;
    this.#stopTicks?.();
    this.#stopTicks = undefined;
  }
}

/** Does not keep the process alive. */
const repeatByTimer: Repeat = (tick, intervalMs) => {
  const timer = setInterval(tick, intervalMs).unref();
  return () => clearInterval(timer);
};
