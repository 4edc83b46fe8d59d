import type uWS from 'uWebSockets.js';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { FanOut } from '../../stream/fan_out.js';
import type { Endpoint, UpgradeDecision } from '../connections/connection.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';
import { createApp, type ListenOptions, listen } from './app.js';
import { serveRest } from './http.js';
import { TurnBudget } from './turn_budget.js';
import { WebSockets } from './websockets.js';

/** The listener for REST and the sockets of one thread. */
export interface Listener {
  readonly port: number;
  /** The number of open WebSockets. */
  readonly sockets: number;
  /** Stops or resumes accepting new connections; open ones stay. */
  setAccepting(accepting: boolean): void;
  /** Ends each HTTP connection with its next answer, which announces that; WebSockets stay. */
  retire(): void;
  /** Closes the port and all connections at once, except TLS handshakes that wait for their turn; resolves when those are closed too. */
  close(): Promise<void>;
}

/**
 * Makes a listener accept no new connections without losing any: the system resets waiting connections when the listener closes,
 * so it closes right after a turn of the event loop in which it accepted all of them. Connections that come in between can still
 * be reset, unless `net.ipv4.tcp_migrate_req` is 1 and another process listens there.
 */
export async function stopAccepting(listener: Pick<Listener, 'setAccepting'>): Promise<void> {
  // The first turn is the present one, the second looks for connections.
  await endOfTurn();
  await endOfTurn();
  listener.setAccepting(false);
}

/** The parts of the service that a listener uses. */
export interface ListenerHost {
  /** The place at which senders of frames register. */
  readonly fanOut: FanOut;
  readonly endpoints: readonly Endpoint[];
  decideUpgrade(endpoint: Endpoint, request: RestRequest): UpgradeDecision;
  rest(request: RestRequest): RestResponse;
}

/** Makes browsers use TLS with this host for a year (RFC 6797). */
const TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/** @throws Error when the address is in use or TLS cannot start. */
export function openListener(ws: typeof uWS, at: ListenOptions, host: ListenerHost): Listener {
  const app = createApp(ws, at);
  const endpointOf = new Map(host.endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const turns = new TurnBudget(setImmediate);
  const sockets = new WebSockets(app, turns, [...endpointOf.keys()], (path, request) =>
    host.decideUpgrade(endpointOf.get(path)!, request),
  );
  let isRetired = false;
  serveRest(app, turns, (request) => {
    const known = host.rest(request);
    const response =
      at.tls === undefined ? known : { ...known, headers: [...known.headers, TRANSPORT_SECURITY] };
    return isRetired ? { ...response, closeConnection: true } : response;
  });
  const { port, setAccepting, close } = listen(ws, app, at);
  const leaveFanOut = host.fanOut.register(sockets);
  return {
    port,
    get sockets() {
      return sockets.size;
    },
    setAccepting,
    retire() {
      isRetired = true;
    },
    close() {
      leaveFanOut();
      sockets.stop();
      return close();
    },
  };
}
