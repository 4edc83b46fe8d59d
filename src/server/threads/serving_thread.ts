import { Worker } from 'node:worker_threads';
import type { Endpoint, OpenConnection } from '../connections/connection.js';
import type { ListenOptions } from '../uws/app.js';
import type { ListenerHost, Waiting } from '../uws/listener.js';
import { sequenceOf, type Topic, Topics } from '../uws/topics.js';
import { createRingMemory, FrameWriter } from './frame_ring.js';
import { interrupt } from './interrupt.js';
import { RemoteConnection } from './remote_connection.js';
import {
  CLOSE_FUNCTION,
  OUTBOX_HANDLED,
  OUTBOX_SENT,
  type ThreadCommand,
  type ThreadEvent,
  type ThreadReport,
  type ThreadStart,
} from './thread_messages.js';
import { createLivenessMemory, Watchdog } from './watchdog.js';

export interface ServingThreadOptions {
  readonly listen: ListenOptions;
  readonly host: ListenerHost;
  /** What the ring that takes frames to the thread holds. */
  readonly ringBytes: number;
  readonly allowedSha256: string | undefined;
  /** The module that runs in the thread, where it is not `thread_main.js`. */
  readonly workerFile?: URL | undefined;
  readonly counters: ServingThreadCounters;
  /** After how long without a turn of its event loop the thread counts as hung, where it is not {@link SILENCE_MS_MAX}. */
  readonly silenceMsMax?: number | undefined;
  /** Called once when the thread ends unasked, or hangs and is being ended. */
  readonly onFailure: (error: Error) => void;
  /** Called when the thread has ended; all its connections are closed by then. */
  readonly onExit: () => void;
}

/** Counts since the start. */
export interface ServingThreadCounters {
  /** Frames that a thread was too far behind to take; its connections get newer ones. */
  threadOverruns: number;
}

/** Some hundred times the longest turn of a thread under full load. */
const SILENCE_MS_MAX = 5_000;
/** How long a thread may take for its end before it is ended in the middle of what it does. */
const EXIT_MS_MAX = 500;
/** And how long the end of the service then waits for one that does not come back from native code. */
const FORCED_EXIT_MS_MAX = 3_000;

/** A thread that serves sockets, as the main thread sees it: does for them what a local listener does for its own. */
export class ServingThread {
  readonly #options: ServingThreadOptions;
  readonly #worker: Worker;
  readonly #frames: FrameWriter;
  readonly #outbox = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #endpointOf: ReadonlyMap<string, Endpoint>;
  readonly #sockets = new Map<number, RemoteConnection>();
  readonly #topics = new Topics<RemoteConnection>();
  /** Did not get a frame because the ring was full; they go on when the thread has answered. */
  readonly #setAside = new Set<RemoteConnection>();
  readonly #watch: Watchdog;
  readonly #exited: Promise<void>;
  #isExiting = false;
  #socketsAccepted = 0;
  #commands: ThreadCommand[] = [];
  /** Resolves when the thread listens. @throws Error when it cannot. */
  readonly listening: Promise<void>;
  isListening = false;

  constructor(options: ServingThreadOptions) {
    const { listen, host, ringBytes, allowedSha256, workerFile, silenceMsMax, onFailure, onExit } = options;
    this.#options = options;
    this.#endpointOf = new Map(host.endpoints.map((endpoint) => [endpoint.path.path, endpoint]));
    const leaveFanOut = host.fanOut.register(this);
    const ring = createRingMemory(ringBytes);
    this.#frames = new FrameWriter(ring);
    const paths = host.endpoints.map(({ path }) => path);
    const outbox = this.#outbox.buffer as SharedArrayBuffer;
    const liveness = createLivenessMemory();
    const workerData: ThreadStart = { listen, paths, ring, outbox, liveness, allowedSha256 };
    const file = workerFile ?? new URL('./thread_main.js', import.meta.url);
    this.#worker = new Worker(file, { workerData, execArgv: [] });
    let failure: Error | undefined;
    const fail = (error: Error) => {
      if (failure !== undefined || this.#isExiting) return;
      failure = error;
      onFailure(error);
    };
    this.#watch = new Watchdog(liveness, () => {
      this.isListening = false;
      fail(new Error('the thread hangs'));
      void this.#end();
    });
    this.#worker.on('error', fail);
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        leaveFanOut();
        this.#watch.stop();
        this.isListening = false;
        for (const socket of [...this.#sockets.values()]) socket.ended();
        fail(new Error('the thread ended'));
        onExit();
        resolve();
      });
    });
    this.listening = new Promise((resolve, reject) => {
      this.#worker.on('message', ({ events, weight }: ThreadReport) => {
        for (const event of events) {
          if (event.on === 'failed') reject(new Error(event.error));
          else if (event.on === 'listening') {
            this.isListening = true;
            this.#watch.start(silenceMsMax ?? SILENCE_MS_MAX);
            resolve();
          } else this.#take(event);
        }
        Atomics.add(this.#outbox, OUTBOX_HANDLED, weight);
        Atomics.notify(this.#outbox, OUTBOX_HANDLED);
      });
      void this.#exited.then(() => reject(failure ?? new Error('a thread ended before it listened')));
    });
  }

  /** How many are open. */
  get sockets(): number {
    return this.#sockets.size;
  }

  get waiting(): Waiting {
    const sent = Atomics.load(this.#outbox, OUTBOX_SENT);
    const handled = Atomics.load(this.#outbox, OUTBOX_HANDLED);
    return { frameBytes: this.#frames.waiting, eventBytes: (sent - handled) | 0 };
  }

  publish(topic: number, frame: Uint8Array, sequence: number): void {
    const entry = this.#topics.get(topic);
    if (entry === undefined) return;
    if (!this.#frames.write(topic, sequence, frame)) {
      this.#leaveOut(entry);
      return;
    }
    entry.sequence = sequence;
    const last = this.#commands.at(-1);
    if (last?.do === 'publish') last.count++;
    else this.#do({ do: 'publish', count: 1 });
  }

  setAccepting(accepting: boolean): void {
    this.#do({ do: 'setAccepting', accepting });
  }

  /** Closes what is open and ends the thread. @returns when it has ended, or can be waited for no longer. */
  async exit(): Promise<void> {
    this.#isExiting = true;
    this.#do({ do: 'exit' });
    await this.#exitedWithin(EXIT_MS_MAX);
    if (this.isListening) void this.#end();
    await this.#exitedWithin(FORCED_EXIT_MS_MAX);
    this.#worker.unref();
  }

  /**
   * Ends the thread whatever its JavaScript does. Ending it with open connections would abort the process: the loop of
   * libuv, which each of them is a handle of, cannot be closed.
   */
  async #end(): Promise<void> {
    this.isListening = false;
    await interrupt(this.#worker, `${CLOSE_FUNCTION}()`);
    await this.#worker.terminate();
  }

  async #exitedWithin(ms: number): Promise<void> {
    let deadline: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      deadline = setTimeout(resolve, ms);
    });
    await Promise.race([this.#exited, late]);
    clearTimeout(deadline);
  }

  /** The commands of one turn of the event loop travel together. */
  #do(command: ThreadCommand): void {
    if (this.#commands.push(command) > 1) return;
    queueMicrotask(() => {
      this.#worker.postMessage(this.#commands);
      this.#commands = [];
    });
  }

  /** The ring is full: the thread hangs, or is slower than the prices. Its members lag until it has caught up. */
  #leaveOut(entry: Topic<RemoteConnection>): void {
    this.#options.counters.threadOverruns++;
    if (this.#setAside.size === 0) this.#do({ do: 'fence' });
    for (const socket of [...entry.sockets.members]) {
      this.#setAside.add(socket);
      socket.events.lagged(sequenceOf(entry, socket));
    }
  }

  #take(event: Exclude<ThreadEvent, { on: 'listening' | 'failed' }>): void {
    switch (event.on) {
      case 'request': {
        const response = this.#options.host.rest(event.content);
        this.#do({ do: 'respond', request: event.request, response });
        break;
      }
      case 'upgrade': {
        const { request, path, content } = event;
        const decision = this.#options.host.decideUpgrade(this.#endpointOf.get(path)!, content);
        if (typeof decision === 'function') this.#accept(request, decision);
        else this.#do({ do: 'respond', request, response: decision });
        break;
      }
      case 'fence': {
        const sockets = [...this.#setAside];
        this.#setAside.clear();
        for (const socket of sockets) socket.events.drained(0);
        break;
      }
      default: {
        // The main thread may have closed it in the meantime.
        const socket = this.#sockets.get(event.socket);
        if (socket !== undefined) this.#takeFromSocket(socket, event);
      }
    }
  }

  #takeFromSocket(socket: RemoteConnection, event: Extract<ThreadEvent, { socket: number }>): void {
    const { events } = socket;
    switch (event.on) {
      case 'text':
        events.text(event.text);
        break;
      case 'oversize':
        events.oversize(event.messageBytes);
        break;
      case 'lagged':
        this.#setAside.delete(socket);
        events.lagged(event.sequence);
        this.#do({ do: 'acknowledgeLag', socket: event.socket });
        break;
      case 'drained':
        events.drained(event.bufferedBytes);
        break;
      case 'dropped':
      case 'silent':
      case 'heard':
        events[event.on]();
        break;
      case 'closed':
        socket.ended();
        break;
    }
  }

  #accept(request: number, open: OpenConnection): void {
    const id = this.#socketsAccepted++;
    this.#do({ do: 'accept', request, socket: id });
    const topics = this.#topics;
    const socket = new RemoteConnection(
      id,
      topics,
      (command) => this.#do(command),
      () => {
        this.#sockets.delete(id);
        this.#setAside.delete(socket);
      },
    );
    this.#sockets.set(id, socket);
    socket.events = open(socket);
  }
}
