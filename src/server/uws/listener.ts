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
  /** Open WebSockets. */
  readonly sockets: number;
  /** Takes no new connections, or takes them again; those that are open stay. */
  setAccepting(accepting: boolean): void;
  /** From now on each HTTP connection ends with its next answer, which says so; WebSockets stay. */
  retire(): void;
  /** Closes the port and all connections at once, but for TLS handshakes that wait for their turn; resolves when those are closed too. */
  close(): Promise<void>;
}

/**
 * Has a listener take no new connections, and none is lost: the system resets those that wait when it closes, so it closes right
 * after a turn of the event loop in which it took all of them. What comes in between can still be reset, unless
 * `net.ipv4.tcp_migrate_req` is 1 and somebody else listens there.
 */
export async function stopAccepting(listener: Pick<Listener, 'setAccepting'>): Promise<void> {
  // The first turn is the one that called this, the second looks for connections.
  await endOfTurn();
  await endOfTurn();
  listener.setAccepting(false);
}

/** What a listener needs of the service. */
export interface ListenerHost {
  /** Where what sends frames registers. */
  readonly fanOut: FanOut;
  readonly endpoints: readonly Endpoint[];
  decideUpgrade(endpoint: Endpoint, request: RestRequest): UpgradeDecision;
  rest(request: RestRequest): RestResponse;
}

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
    const response = host.rest(request);
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
