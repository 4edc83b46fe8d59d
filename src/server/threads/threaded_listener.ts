import { claimPort, type ListenOptions } from '../uws/app.js';
import { type Listener, type ListenerHost, mostWaiting, type Waiting } from '../uws/listener.js';
import { ringBytesFor } from './frame_ring.js';
import { ServingThread, type ServingThreadCounters } from './serving_thread.js';

export interface ThreadedListenerOptions {
  /** How many threads. */
  readonly threads: number;
  /** A port other than 0 has been claimed. */
  readonly listen: ListenOptions;
  readonly host: ListenerHost;
  /** What the ring that takes frames to a thread holds: `threadRingBytes`. */
  readonly ringBytes: number;
  /** For `loadWebSockets` in the threads. */
  readonly allowedSha256: string | undefined;
  readonly counters: ThreadedListenerCounters;
  /** Called for a thread that ended unasked or hangs, and is being replaced. */
  readonly onFailure: (error: Error) => void;
  /** The module that runs in the threads, where it is not `thread_main.js`. */
  readonly workerFile?: URL;
  /** After how long a thread counts as hung, where it is not the default of `ServingThread`. */
  readonly silenceMsMax?: number;
}

/** Counts since the start. */
export interface ThreadedListenerCounters extends ServingThreadCounters {
  /** Threads that ended unasked or hung; each was replaced. */
  threadFailures: number;
}

/** So that a thread that cannot start does not take a core with its attempts. */
const REPLACEMENT_DELAY_MS = 100;

/**
 * Serves sockets on threads of their own, which share the port: what each connection costs is one write to the kernel per
 * frame, and this spreads it over the cores. Frames are made once, here, and so is every decision.
 * @throws Error when the address is in use or TLS cannot start.
 */
export async function openThreadedListener(options: ThreadedListenerOptions): Promise<Listener> {
  // Threads share the port, and one that uWebSockets.js picks is never shared.
  const listener = new ThreadedListener(options, options.listen.port || (await claimPort(options.listen)));
  try {
    await listener.start();
  } catch (error) {
    await listener.close();
    throw error;
  }
  return listener;
}

/** The least that a thread may fall behind before frames pass it by: some 10,000 frames of 10 assets. */
const RING_BYTES_MIN = 4 * 1024 * 1024;
const RING_FRAMES_MIN = 4;

/** @param frameBytesMax the longest frame there can be */
export function threadRingBytes(frameBytesMax: number): number {
  return Math.max(RING_BYTES_MIN, ringBytesFor(RING_FRAMES_MIN, frameBytesMax));
}

class ThreadedListener implements Listener {
  readonly #options: ThreadedListenerOptions;
  readonly #threads = new Set<ServingThread>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  #isAccepting = true;
  #stopping = false;

  constructor(
    options: ThreadedListenerOptions,
    readonly port: number,
  ) {
    this.#options = options;
  }

  get threads(): number {
    return [...this.#threads].filter(({ isListening }) => isListening).length;
  }

  get sockets(): number {
    return [...this.#threads].reduce((sum, { sockets }) => sum + sockets, 0);
  }

  get waiting(): Waiting {
    return mostWaiting([...this.#threads].map(({ waiting }) => waiting));
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.threads }, () => this.#open().listening));
  }

  setAccepting(accepting: boolean): void {
    this.#isAccepting = accepting;
    for (const servingThread of this.#threads) servingThread.setAccepting(accepting);
  }

  async close(): Promise<void> {
    this.#stopping = true;
    for (const replacement of this.#replacements) clearTimeout(replacement);
    await Promise.all([...this.#threads].map((servingThread) => servingThread.exit()));
  }

  #open(): ServingThread {
    const { host, ringBytes, allowedSha256, workerFile, silenceMsMax, counters, onFailure } = this.#options;
    const servingThread = new ServingThread({
      listen: { ...this.#options.listen, port: this.port },
      host,
      ringBytes,
      allowedSha256,
      workerFile,
      silenceMsMax,
      counters,
      onFailure: (error) => {
        counters.threadFailures++;
        onFailure(error);
      },
      onExit: () => {
        this.#threads.delete(servingThread);
        if (!this.#stopping) this.#replaceLater();
      },
    });
    this.#threads.add(servingThread);
    return servingThread;
  }

  #replaceLater(): void {
    const replacement = setTimeout(() => {
      this.#replacements.delete(replacement);
      const servingThread = this.#open();
      servingThread.listening.then(
        () => servingThread.setAccepting(this.#isAccepting),
        // A thread that cannot listen exits; `onExit` handles it.
        () => {},
      );
    }, REPLACEMENT_DELAY_MS);
    this.#replacements.add(replacement);
  }
}
