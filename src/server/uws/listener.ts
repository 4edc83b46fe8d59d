import type uWS from 'uWebSockets.js';
import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { FanOut } from '../../stream/fan_out.js';
import type { DecideUpgrade, Endpoint, UpgradeDecision } from '../connections/connection.js';
import type { EventsDecision } from '../connections/event_decision.js';
import type { RestRequest } from '../http/rest_exchange.js';
import { createApp, type ListenOptions, listen } from './app.js';
import { EventStreams } from './event_streams.js';
import { type AnswerRest, methodFaultOf, type RestHost, serveRest } from './http.js';
import { withTransportSecurity } from './transport_security.js';
import { TurnBudget } from './turn_budget.js';
import { WebSockets } from './websockets.js';

/** The listener of a thread for REST and the sockets. */
export interface Listener {
  readonly port: number;
  /** The number of open WebSockets and streams of events. */
  readonly sockets: number;
  /** Stops or resumes accepting new connections. Open connections stay. */
  setAccepting(accepting: boolean): void;
  /** Ends each HTTP connection with its next answer, and announces the end in this answer. WebSockets stay. */
  retire(): void;
  /**
   * Closes the port and all connections immediately, except TLS handshakes that wait for their turn. Resolves when those
   * handshakes are closed too.
   */
  close(): Promise<void>;
}

/**
 * Stops a listener from accepting connections, without losing waiting connections. The system resets waiting connections when the listener
 * closes, so the listener closes right after a turn of the event loop that has accepted all of them. A connection that arrives after this
 * turn can still be reset, unless `net.ipv4.tcp_migrate_req` is 1 and another process listens on the port.
 */
export async function stopAccepting(listener: Pick<Listener, 'setAccepting'>): Promise<void> {
  // The first wait ends the current turn. In the second turn the listener accepts the waiting connections.
  await endOfTurn();
  await endOfTurn();
  listener.setAccepting(false);
}

/** The parts of the service that a listener uses. */
export interface ListenerHost extends RestHost {
  /** The fan-out with which the listener registers as a sender of frames. */
  readonly fanOut: FanOut;
  readonly endpoints: readonly Endpoint[];
  /** `listen.ping_interval` */
  readonly pingIntervalSeconds: number;
  /** Called for each message and request. */
  readonly onWork?: (() => void) | undefined;
  /** Decides on new connections, and counts them. */
  readonly connections: {
    /** True while connections must end with their answers. */
    readonly isShort: boolean;
    /** @returns false if the connection must end */
    accept(address: string): boolean;
    ended(): void;
  };
  decideUpgrade(endpoint: Endpoint, request: RestRequest): UpgradeDecision;
  decideEvents(request: RestRequest): EventsDecision;
}

/** @throws Error when the address is in use or TLS cannot start */
export function openListener(ws: typeof uWS, at: ListenOptions, host: ListenerHost): Listener {
  const app = createApp(ws, at);
  const { connections } = host;
  countConnections(app, connections);
  const endpointOf = new Map(host.endpoints.map((endpoint) => [endpoint.path, endpoint]));
  const turns = new TurnBudget(setImmediate, host.onWork);
  const decide: DecideUpgrade = (path, request) => {
    const decision = methodFaultOf(request.method) ?? host.decideUpgrade(endpointOf.get(path)!, request);
    return typeof decision === 'function' ? decision : withTransportSecurity(at, decision);
  };
  const onEnded = () => connections.ended();
  const sockets = new WebSockets({
    app,
    turns,
    paths: [...endpointOf.keys()],
    pingIntervalSeconds: host.pingIntervalSeconds,
    decide,
    onEnded,
  });
  let isRetired = false;
  const rest: AnswerRest = (request) => {
    const response = withTransportSecurity(at, host.rest(request));
    return isRetired || connections.isShort ? { ...response, closeConnection: true } : response;
  };
  const refused: RestHost['refused'] = {
    checked: (request, response) => withTransportSecurity(at, host.refused.checked(request, response)),
  };
  const events = new EventStreams(app, turns, {
    rest,
    decideEvents(request) {
      const { open, response } = host.decideEvents(request);
      return { open, response: withTransportSecurity(at, response) };
    },
  });
  serveRest(app, turns, { rest, refused });
  const { port, setAccepting, close } = listen(ws, app, at);
  const leaving = [host.fanOut.register(sockets), host.fanOut.register(events)];
  return {
    port,
    get sockets() {
      return sockets.size + events.size;
    },
    setAccepting,
    retire() {
      isRetired = true;
    },
    close() {
      for (const leave of leaving) leave();
      sockets.stop();
      events.stop();
      return close();
    },
  };
}

/** Counts connections from their beginning. A connection that became a WebSocket ends without a call of the filter. */
function countConnections(app: TemplatedApp, connections: ListenerHost['connections']): void {
  const changed = (res: HttpResponse, change: unknown): void => {
    if (Number(change) < 0) connections.ended();
    else if (!connections.accept(Buffer.from(res.getRemoteAddressAsText()).toString())) res.close();
  };
  app.filter(changed);
}
