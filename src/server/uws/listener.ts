import type uWS from 'uWebSockets.js';
import type { FanOut } from '../../stream/fan_out.js';
import type { Endpoint, UpgradeDecision } from '../connections/connection.js';
import type { RestRequest, RestResponse } from '../http/messages.js';
import { createApp, type ListenOptions, listen } from './app.js';
import { serveRest } from './http.js';
import { WebSockets } from './websockets.js';

/** The listener for REST and the sockets, on one thread or on several. */
export interface Listener {
  readonly port: number;
  /** Threads that serve sockets now. */
  readonly threads: number;
  /** Open WebSockets. */
  readonly sockets: number;
  /** What waits between the main thread and the serving thread that is furthest behind. */
  readonly waiting: Waiting;
  /** Takes no new connections, or takes them again; those that are open stay. */
  setAccepting(accepting: boolean): void;
  /** Ends everything; resolves when the port is free. */
  close(): Promise<void>;
}

export interface Waiting {
  /** Frames that the serving thread has not taken yet. */
  readonly frameBytes: number;
  /** What came from clients and the main thread has not handled yet: its text and a fixed weight for each event. */
  readonly eventBytes: number;
}

/** On the thread that makes the frames nothing waits between the two. */
export const NOTHING_WAITS: Waiting = { frameBytes: 0, eventBytes: 0 };

export function mostWaiting(all: readonly Waiting[]): Waiting {
  return {
    frameBytes: Math.max(0, ...all.map(({ frameBytes }) => frameBytes)),
    eventBytes: Math.max(0, ...all.map(({ eventBytes }) => eventBytes)),
  };
}

/** What a listener needs of the service. */
export interface ListenerHost {
  /** Where what sends frames registers. */
  readonly fanOut: FanOut;
  readonly endpoints: readonly Endpoint[];
  decideUpgrade(endpoint: Endpoint, request: RestRequest): UpgradeDecision;
  rest(request: RestRequest): RestResponse;
}

/** Serves everything on the calling thread. @throws Error when the address is in use or TLS cannot start. */
export async function openListener(ws: typeof uWS, at: ListenOptions, host: ListenerHost): Promise<Listener> {
  const app = createApp(ws, at);
  const endpointOf = new Map(host.endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const sockets = new WebSockets(app, [...endpointOf.keys()], (path, request, answer) =>
    answer(host.decideUpgrade(endpointOf.get(path)!, request)),
  );
  serveRest(app, (request) => host.rest(request));
  const { port, setAccepting, close } = await listen(ws, app, at);
  const leaveFanOut = host.fanOut.register(sockets);
  return {
    port,
    threads: 1,
    get sockets() {
      return sockets.size;
    },
    waiting: NOTHING_WAITS,
    setAccepting,
    async close() {
      leaveFanOut();
      close();
    },
  };
}
