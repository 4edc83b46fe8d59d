import { Worker } from 'node:worker_threads';
import type { ListenOptions } from './app.js';
import { createRingMemory, FrameWriter } from './frame_ring.js';
import type { FrontHost } from './front.js';
import type { RelayCommand, RelayEvent, RelayReport, RelayStart } from './relay_messages.js';
import { RemoteSocket } from './remote_socket.js';
import type { Endpoint, OpenSocket } from './socket.js';
import { sequenceOf, type Topic, Topics } from './topics.js';

export interface RelayOptions {
  readonly listen: ListenOptions;
  readonly host: FrontHost;
  /** What the ring that takes frames to the thread holds. */
  readonly ringBytes: number;
  readonly allowedSha256: string | undefined;
  /** The module that runs in the thread, where it is not `relay_worker.js`. */
  readonly workerFile?: URL | undefined;
  readonly counters: RelayCounters;
  /** Told when the thread ends, with the error when it was one; all its sockets are closed by then. */
  readonly onExit: (error: Error | undefined) => void;
}

/** Counts since the start. */
export interface RelayCounters {
  /** Frames that a thread was too far behind to take; its connections get newer ones. */
  relayOverruns: number;
}

/** How long the end of the service waits for a thread that hangs. */
const EXIT_MS_MAX = 3_000;

/** A thread that serves sockets, as the main thread sees it: does for them what a local front does for its own. */
export class Relay {
  readonly #options: RelayOptions;
  readonly #worker: Worker;
  readonly #frames: FrameWriter;
  readonly #handled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #endpointOf: ReadonlyMap<string, Endpoint>;
  readonly #sockets = new Map<number, RemoteSocket>();
  readonly #topics = new Topics<RemoteSocket>();
  /** Did not get a frame because the ring was full; they go on when the thread has answered. */
  readonly #setAside = new Set<RemoteSocket>();
  readonly #exited: Promise<void>;
  #socketsAccepted = 0;
  #commands: RelayCommand[] = [];
  /** Resolves when the thread listens. @throws Error when it cannot. */
  readonly listening: Promise<void>;
  isListening = false;

  constructor(options: RelayOptions) {
    const { listen, host, ringBytes, allowedSha256, workerFile, onExit } = options;
    this.#options = options;
    this.#endpointOf = new Map(host.endpoints.map((endpoint) => [endpoint.path.path, endpoint]));
    const ring = createRingMemory(ringBytes);
    this.#frames = new FrameWriter(ring);
    const paths = host.endpoints.map(({ path }) => path);
    const handled = this.#handled.buffer as SharedArrayBuffer;
    const workerData: RelayStart = { listen, paths, ring, handled, allowedSha256 };
    const file = workerFile ?? new URL('./relay_worker.js', import.meta.url);
    this.#worker = new Worker(file, { workerData, execArgv: [] });
    let failure: Error | undefined;
    this.#worker.on('error', (error) => {
      failure = error;
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        for (const socket of [...this.#sockets.values()]) socket.ended();
        onExit(failure);
        resolve();
      });
    });
    this.listening = new Promise((resolve, reject) => {
      this.#worker.on('message', ({ events, weight }: RelayReport) => {
        for (const event of events) {
          if (event.on === 'failed') reject(new Error(event.error));
          else if (event.on === 'listening') {
            this.isListening = true;
            resolve();
          } else this.#take(event);
        }
        Atomics.add(this.#handled, 0, weight);
        Atomics.notify(this.#handled, 0);
      });
      void this.#exited.then(() => reject(failure ?? new Error('a thread ended before it listened')));
    });
  }

  /** How many are open. */
  get sockets(): number {
    return this.#sockets.size;
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

  /** Closes what is open and ends the thread. @returns when it has ended, or hangs and can be waited for no longer. */
  async exit(): Promise<void> {
    this.#do({ do: 'exit' });
    let patience: NodeJS.Timeout | undefined;
    const hangs = new Promise<void>((resolve) => {
      patience = setTimeout(resolve, EXIT_MS_MAX);
    });
    await Promise.race([this.#exited, hangs]);
    clearTimeout(patience);
    // It must not keep the process, and to end it from here, inside native code, would abort the process.
    this.#worker.unref();
  }

  /** The commands of one turn of the event loop travel together. */
  #do(command: RelayCommand): void {
    if (this.#commands.push(command) > 1) return;
    queueMicrotask(() => {
      this.#worker.postMessage(this.#commands);
      this.#commands = [];
    });
  }

  /** The ring is full: the thread hangs, or is slower than the prices. Its members lag until it has caught up. */
  #leaveOut(entry: Topic<RemoteSocket>): void {
    this.#options.counters.relayOverruns++;
    if (this.#setAside.size === 0) this.#do({ do: 'echo' });
    for (const socket of [...entry.sockets.members]) {
      this.#setAside.add(socket);
      socket.events.lagged(sequenceOf(entry, socket));
    }
  }

  #take(event: Exclude<RelayEvent, { on: 'listening' | 'failed' }>): void {
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
      case 'echo': {
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

  #takeFromSocket(socket: RemoteSocket, event: Extract<RelayEvent, { socket: number }>): void {
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
        this.#do({ do: 'heedLag', socket: event.socket });
        break;
      case 'drained':
        events.drained(event.bufferedBytes);
        break;
      case 'dropped':
        events.dropped();
        break;
      case 'closed':
        socket.ended();
        break;
    }
  }

  #accept(request: number, open: OpenSocket): void {
    const id = this.#socketsAccepted++;
    this.#do({ do: 'accept', request, socket: id });
    const topics = this.#topics;
    const socket = new RemoteSocket(
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
