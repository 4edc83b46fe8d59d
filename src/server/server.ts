import type uWS from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { countRejection } from '../model/counters.js';
import type { PublishReceiver } from '../prices/publisher_session.js';
import type { AggregateStreams } from '../stream/aggregate_streams.js';
import type { StreamEngine } from '../stream/engine.js';
import type { FanOut } from '../stream/fan_out.js';
import { REST_PATHS } from '../wire/paths.js';
import { type Access, type AccessOptions, openAccess } from './access/open_access.js';
import { aggregateEndpoints } from './connections/aggregate_endpoint.js';
import type { Endpoint } from './connections/connection.js';
import { eventDecision } from './connections/event_decision.js';
import { eventEndpoint } from './connections/event_endpoint.js';
import { publishEndpoints } from './connections/publish_endpoint.js';
import { ConnectionRegistry } from './connections/registry.js';
import { streamEndpoint } from './connections/stream_endpoint.js';
import { loadPages } from './live_page/page_files.js';
import { createPage } from './live_page/serve_page.js';
import { CachedAnswers } from './rest/answer_cache.js';
import { withCrossOrigin } from './rest/cross_origin.js';
import { type LogFilesOptions, serveLogFiles } from './rest/log_files.js';
import { measureRequests } from './rest/measured.js';
import { RestApi } from './rest/rest_api.js';
import type { Route } from './rest/route.js';
import type { ListenOptions } from './uws/app.js';
import { certificateRenewal } from './uws/certificate_renewal.js';
import { STARTING } from './uws/early_listener.js';
import type { AnswerRest } from './uws/http.js';
import { type ListenerHost, openListener, stopAccepting } from './uws/listener.js';
import { ReplaceableListener } from './uws/replaceable_listener.js';

export interface ServerOptions extends AccessOptions {
  /** The address to listen on. The caller must have claimed a port other than 0. Other threads may also listen on this port. */
  readonly at: ListenOptions;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called for each message and request. */
  readonly onWork?: (() => void) | undefined;
  readonly rest: {
    readonly routes: ReadonlyMap<string, Route>;
    /** The public files of the log of signed prices. */
    readonly logFiles: LogFilesOptions['files'];
    readonly streamLogFiles: LogFilesOptions['streamFiles'];
  };
  readonly streams: {
    /** The fan-out that sends frames to connections. The server registers its connections with the fan-out. */
    readonly fanOut: FanOut;
    readonly stream: StreamEngine;
    /** Returns true if the service has a key for `signed_ecdsa`. */
    readonly signsPayloads: () => boolean;
    /** Returns the streaming ID of a symbol. */
    readonly idOf: (symbol: string) => number | undefined;
    readonly aggregates: AggregateStreams;
    readonly receiver: PublishReceiver;
  };
}

/** Serves REST and the sockets on the calling thread. */
export interface Server {
  /** Resolves when the server accepts connections. @throws Error when the address is in use or TLS cannot start */
  listen(): Promise<void>;
  /** The port, after the server has started to listen. */
  readonly port: number;
  readonly sockets: ConnectionRegistry;
  /** Applies changed tokens, routes and TLS files. Closes the sockets of revoked tokens and of keys that are no longer listed. */
  reload(tokens: Config['tokens'], routes: ReadonlyMap<string, Route>): void;
  /** Stops or resumes accepting connections. Open connections stay. */
  setAccepting(accepting: boolean): void;
  /**
   * Prepares for the takeover by another process. After this call the server accepts no WebSocket, and closes each HTTP
   * connection after its answer. `LAST_ANSWERS_MS` after {@link drain} has stopped accepting connections, the server answers
   * every request with 503.
   */
  handOver(): void;
  /**
   * Stops accepting connections, and closes the sockets with 1001 over the time `limits.drain`. Resolves when the close frames
   * are sent.
   */
  drain(): Promise<void>;
  /**
   * Closes the listener and all connections immediately, except TLS handshakes that wait for their turn. Resolves when those
   * handshakes are closed too.
   */
  close(): Promise<void>;
}

/** The requests per second for each client address on routes without a token. */
const OPEN_REQUESTS_PER_SECOND = 5;
/** The interval at which the server removes outdated answers from the cache. */
const SWEEP_INTERVAL_MS = 1_000;
/** The time that the event loop and the kernel need to send the close frames. */
const CLOSING_MS = 100;
/**
 * The time after a takeover in which this process still answers requests on its connections. A client whose socket was closed sends its
 * next request within 0.25 s, on a connection that is still open. The answers are at most a little older than those of the new process.
 */
const LAST_ANSWERS_MS = 500;
/** The time from the end of the drain to the end of all connections, after a takeover. */
const HANDED_OVER_CLOSING_MS = 1_000;

export function createServer(ws: typeof uWS, options: ServerOptions): Server {
  const { config, at, counters, logger } = options;
  const { limits } = config;
  const onFault = (path: string, error: unknown) => logger.error({ path, err: error }, 'fault in a handler');
  const access = openAccess(options);
  const connectionLimits = {
    controlMessagesPerSecondMax: limits.controlMessagesPerSecond,
    connectionsPerAddressMax: limits.connectionsPerAddress,
    connectionsPerTokenMax: limits.connectionsPerToken,
    publishConnectionsPerTokenMax: limits.publishConnectionsPerToken,
    streamConnectionsMax: limits.streamConnections,
  };
  const sockets = new ConnectionRegistry(access, connectionLimits, options.clock);
  const rest = openRest(options, access, onFault);
  let phase: 'serving' | 'handed over' | 'replaced' = 'serving';
  /**
   * While the next process starts, this process still answers, because this process has all data that are on disk. This process
   * issues no tickets, because the next process would not accept them.
   */
  const answerRest: AnswerRest = (request) => {
    if (phase === 'serving') return rest.answer(request);
    if (phase === 'replaced' || request.path === REST_PATHS.streamTicket) return STARTING;
    return { ...rest.answer(request), closeConnection: true };
  };
  const host: ListenerHost = {
    fanOut: options.streams.fanOut,
    endpoints: endpointsOf(options, access, onFault),
    decideUpgrade(endpoint, request) {
      const decision = sockets.decide(endpoint, request);
      return typeof decision === 'function' ? decision : access.refused.checked(request, decision);
    },
    decideEvents: eventDecision(eventsOf(options, access), sockets, access, (answer) =>
      withCrossOrigin(access.origins, answer),
    ),
    onWork: options.onWork,
    refused: access.refused,
    connections: access.addresses,
    pingIntervalSeconds: config.listen.pingIntervalSeconds,
    rest: measureRequests(
      (request) => access.refused.checked(request, answerRest(request)),
      (path) => rest.has(path),
      counters,
    ),
  };
  let listener: ReplaceableListener | undefined;
  const renewCertificate = certificateRenewal(ws, at, logger, () => listener);

  return {
    async listen() {
      listener = new ReplaceableListener(() => openListener(ws, at, host));
    },
    get port() {
      return listener!.port;
    },
    sockets,
    reload(tokens, routes) {
      access.reload(tokens);
      rest.reload(routes);
      sockets.closeRevoked();
      renewCertificate();
    },
    setAccepting: (accepting) => listener?.setAccepting(accepting),
    handOver() {
      phase = 'handed over';
      sockets.draining = true;
    },
    async drain() {
      if (listener !== undefined) await stopAccepting(listener);
      if (phase === 'handed over')
        setTimeout(() => {
          phase = 'replaced';
        }, LAST_ANSWERS_MS).unref();
      await sockets.drain(limits.drainMs);
      const closingMs = phase === 'serving' ? CLOSING_MS : HANDED_OVER_CLOSING_MS;
      await new Promise((resolve) => setTimeout(resolve, closingMs));
    },
    async close() {
      rest.close();
      await listener?.close();
    },
  };
}

/** Makes the endpoint for server-sent events. */
function eventsOf({ config, clock, streams }: ServerOptions, { budgets }: Access): Endpoint {
  const { subscriptionsPerConnection, clientMessageBytes, idleTimeoutSeconds } = config.limits;
  const { stream, idOf, signsPayloads } = streams;
  return eventEndpoint({
    stream,
    idOf,
    signsPayloads,
    budgets,
    clock,
    subscriptionsPerConnection,
    messageBytesMax: clientMessageBytes,
    idleTimeoutSeconds,
  });
}

type OnFault = (path: string, error: unknown) => void;

/** Makes the endpoints for the paths of all WebSockets. */
function endpointsOf(
  { config, clock, counters, streams }: ServerOptions,
  access: Access,
  onFault: OnFault,
): Endpoint[] {
  const { limits } = config;
  const { stream, signsPayloads, aggregates, receiver } = streams;
  const { budgets } = access;
  const { clientMessageBytes: messageBytesMax, idleTimeoutSeconds } = limits;
  return [
    streamEndpoint({ stream, signsPayloads, budgets, messageBytesMax, idleTimeoutSeconds }),
    ...aggregateEndpoints({ aggregates, budgets, messageBytesMax, idleTimeoutSeconds }),
    ...publishEndpoints({
      receiver,
      clock,
      budgets,
      publishBytesPerSecondMax: limits.publishBytesPerSecond,
      controlMessagesPerSecondMax: limits.controlMessagesPerSecond,
      badMessagesPerSecondMax: limits.badMessagesPerSecond,
      messageBytesMax: limits.publishMessageBytes,
      updatesPerMessageMax: limits.updatesPerMessage,
      traceIdLengthMax: limits.traceIdCharacters,
      onMessage: () => {
        counters.publishMessages++;
      },
      onRefused: (reason) => countRejection(counters, reason),
      onReplyDropped: () => {
        counters.repliesDropped++;
      },
      onFault,
    }),
  ];
}

/** Makes the function that answers requests for the live page and for the REST API. */
function openRest(
  options: ServerOptions,
  { logins, origins, clientOf, limiter, budgets }: Access,
  onFault: OnFault,
) {
  const { rest, config, clock } = options;
  let { routes } = rest;
  const answers = new CachedAnswers();
  const sweep = setInterval(() => answers.sweep(), SWEEP_INTERVAL_MS).unref();
  const { pageOperators: operators, pageToken: token } = config.listen;
  const page = createPage({ files: loadPages(), clientOf, limiter, operators, token });
  const { logFiles: files, streamLogFiles: streamFiles } = rest;
  const logFiles = serveLogFiles({ files, streamFiles, clientOf, limiter, onFault });
  const api = new RestApi({
    routes: () => routes,
    logins,
    clientOf,
    limiter,
    rangeRowsOf: (caller) => budgets.of(caller).rangeRows,
    clock,
    answers,
    requestsPerSecond: OPEN_REQUESTS_PER_SECOND,
    onFault,
  });
  const openApi = withCrossOrigin(origins, (request) => api.answer(request));
  return {
    answer(request: Parameters<AnswerRest>[0]) {
      const known = page(request) ?? logFiles(request);
      return known === undefined ? openApi(request) : { ...known, isPublic: true as const };
    },
    has: (path: string) => routes.has(path),
    reload(next: ServerOptions['rest']['routes']) {
      routes = next;
      answers.clear();
    },
    close: () => clearInterval(sweep),
  };
}
