import { randomUUID } from 'node:crypto';
import { BroadcastChannel, setEnvironmentData } from 'node:worker_threads';
import WebSocket from 'ws';
import type { Connection, Endpoint } from '../../../src/server/connections/connection.js';
import { failure } from '../../../src/server/http/messages.js';
import { openThreadedListener } from '../../../src/server/threads/threaded_listener.js';
import type { Listener, ListenerHost } from '../../../src/server/uws/listener.js';
import { FanOut } from '../../../src/stream/fan_out.js';
import type { Fault, FaultChannel } from './faulty_thread_main.js';

/** What happened, one after the other, each taken once. */
export class EventQueue<T> {
  readonly #events: T[] = [];
  #wake: (() => void) | undefined;

  add(event: T): void {
    this.#events.push(event);
    this.#wake?.();
  }

  /** Takes the next one; waits for it. */
  async next(): Promise<T> {
    while (this.#events.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#events.shift()!;
  }
}

export type SocketEvent = string | { readonly lagged: number } | { readonly drained: number };

/** A socket as the service's side has it. */
export interface ServerSocket {
  readonly socket: Connection;
  readonly events: EventQueue<SocketEvent>;
}

export interface ServingHarness {
  readonly listener: Listener;
  readonly fanOut: FanOut;
  readonly url: string;
  /** In the order they were opened. */
  readonly opened: EventQueue<ServerSocket>;
  readonly counters: { threadOverruns: number; threadFailures: number };
  /** Both ends of a new connection. */
  connect(): Promise<{ server: ServerSocket; client: WebSocket }>;
  /** The errors of threads that failed. */
  readonly failures: EventQueue<string>;
  /** Causes a fault in one of the threads, whichever it is; resolves when it is caused. */
  inject(fault: Fault): Promise<void>;
  /** Ends the threads and the connections. */
  close(): Promise<void>;
}

export interface ServingLimits {
  readonly ringBytes?: number;
  /** After how long a thread counts as hung. */
  readonly silenceMsMax?: number;
}

/** Longer than any test: no thread counts as hung. */
const NEVER_MS = 3_600_000;

/** Serving threads whose host records events, answers REST with the request, and refuses upgrades with `?refuse`. */
export async function startServingThreads(
  threads: number,
  { ringBytes = 65_536, silenceMsMax = NEVER_MS }: ServingLimits = {},
): Promise<ServingHarness> {
  const opened = new EventQueue<ServerSocket>();
  const failures = new EventQueue<string>();
  const counters = { threadOverruns: 0, threadFailures: 0 };
  const endpoint: Endpoint = {
    path: {
      path: '/ws',
      messageBytesMax: 1000,
      parserBytesMax: 100_000,
      bufferedBytesMax: 64 * 1024 * 1024,
      idleTimeoutSeconds: 60,
      sendsPings: false,
      reportsSilence: false,
    },
    scope: 'stream',
    accept: () => 'the host below decides',
  };
  const fanOut = new FanOut();
  const host: ListenerHost = {
    fanOut,
    endpoints: [endpoint],
    rest: (request) => ({ status: 200, headers: [['X-Test', 'yes']], body: JSON.stringify(request) }),
    decideUpgrade: (_endpoint, { query }) =>
      query === 'refuse'
        ? failure(403, 'refused')
        : (socket) => {
            const events = new EventQueue<SocketEvent>();
            opened.add({ socket, events });
            return {
              text: (text) => events.add(text),
              oversize: (messageBytes) => events.add(`oversize ${messageBytes}`),
              lagged: (sequence) => events.add({ lagged: sequence }),
              drained: (bufferedBytes) => events.add({ drained: bufferedBytes }),
              dropped: () => events.add('dropped'),
              silent: () => events.add('silent'),
              heard: () => events.add('heard'),
              closed: () => events.add('closed'),
            };
          },
  };
  const faultsLeft = new Int32Array(new SharedArrayBuffer(4));
  const channel = new BroadcastChannel(`faults ${randomUUID()}`);
  const faults: FaultChannel = { channel: channel.name, faultsLeft };
  setEnvironmentData('faults', faults as unknown as Parameters<typeof setEnvironmentData>[1]);
  const listener = await openThreadedListener({
    threads,
    listen: { host: '127.0.0.1', port: 0 },
    host,
    ringBytes,
    silenceMsMax,
    allowedSha256: undefined,
    counters,
    onFailure: (error) => failures.add(error.message),
    workerFile: new URL('./faulty_thread_main.js', import.meta.url),
  });
  const clients: WebSocket[] = [];
  return {
    listener,
    fanOut,
    url: `127.0.0.1:${listener.port}`,
    opened,
    counters,
    failures,
    async connect() {
      const client = new WebSocket(`ws://127.0.0.1:${listener.port}/ws`);
      client.on('error', () => {});
      clients.push(client);
      await new Promise((resolve) => client.once('open', resolve));
      return { server: await opened.next(), client };
    },
    inject(fault) {
      return new Promise((resolve) => {
        channel.onmessage = () => resolve();
        Atomics.add(faultsLeft, 0, 1);
        channel.postMessage(fault);
      });
    },
    async close() {
      for (const client of clients) client.terminate();
      channel.close();
      await listener.close();
    },
  };
}

/** The messages that a client gets, as text. */
export function messagesOf(client: WebSocket): EventQueue<string> {
  const messages = new EventQueue<string>();
  client.on('message', (data) => messages.add(data.toString()));
  return messages;
}

/** Its close code. */
export function closeOf(client: WebSocket): Promise<number> {
  return new Promise((resolve) => client.once('close', resolve));
}
