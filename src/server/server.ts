import type uWS from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { PublishReceiver } from '../aggregator/publisher_session.js';
import type { Config } from '../config/config.js';
import { type Counters, countBudgetRefusal, countReason, countRejection } from '../metrics/counters.js';
import type { Clock } from '../model/time.js';
import type { AggregateStreams } from '../stream/aggregate_streams.js';
import type { StreamEngine } from '../stream/engine.js';
import type { FanOut } from '../stream/fan_out.js';
import { REST_PATHS } from '../wire/paths.js';
import { BudgetDirectory } from './access/caller_budgets.js';
import { CallerTimes } from './access/caller_times.js';
import { clientAddressReader } from './access/client_address.js';
import { Logins } from './access/logins.js';
import { Origins } from './access/origins.js';
import { PublisherLoginCheck, type PublisherLoginsOptions } from './access/publisher_login_check.js';
import { RateLimiter } from './access/rate_limit.js';
import { CallerCounts, type SharedAccess } from './access/shared_access.js';
import type { TicketIssuer } from './access/ticket_issuer.js';
import { TokenDirectory } from './access/tokens.js';
import { aggregateEndpoints } from './connections/aggregate_endpoint.js';
import { publishEndpoints } from './connections/publish_endpoint.js';
import { ConnectionRegistry } from './connections/registry.js';
import { streamEndpoint } from './connections/stream_endpoint.js';
import { loadPage } from './live_page/page_files.js';
import { createPage } from './live_page/serve_page.js';
import { AnswerCache } from './rest/answer_cache.js';
import { withCrossOrigin } from './rest/cross_origin.js';
import { measureRequests } from './rest/measured.js';
import { createRest } from './rest/rest_api.js';
import type { Route } from './rest/route.js';
import { certificateId, createApp, type ListenOptions, type TlsFiles } from './uws/app.js';
import { STARTING } from './uws/early_listener.js';
import type { AnswerRest } from './uws/http.js';
import { type ListenerHost, openListener, stopAccepting } from './uws/listener.js';
import { ReplaceableListener } from './uws/replaceable_listener.js';

export interface ServerOptions {
  readonly config: Config;
  /** Where to listen; a port other than 0 has been claimed, and other threads may listen there as well. */
  readonly at: ListenOptions;
  /** What all threads count and issue together, and which of them this is. */
  readonly access: SharedAccess;
  readonly thread: number;
  readonly routes: ReadonlyMap<string, Route>;
  /** Those that the routes issue. */
  readonly tickets: TicketIssuer;
  readonly clock: Clock;
  /** Brings frames to connections: the listener registers with it. */
  readonly fanOut: FanOut;
  readonly stream: StreamEngine;
  /** Whether there is a key for `signed_ecdsa`. */
  readonly signsPayloads: () => boolean;
  readonly aggregates: AggregateStreams;
  readonly findPublisher: PublisherLoginsOptions['findPublisher'];
  readonly isLoginSigned: PublisherLoginsOptions['isSigned'];
  readonly receiver: PublishReceiver;
  readonly counters: Counters;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Serves REST and the sockets on the calling thread. */
export interface Server {
  /** Resolves when it serves. @throws Error when the address is in use or TLS cannot start. */
  listen(): Promise<void>;
  /** Once it listens. */
  readonly port: number;
  readonly sockets: ConnectionRegistry;
  /** Puts changed tokens, routes and TLS files in force; closes the sockets of revoked tokens and of keys that are no longer listed. */
  reload(tokens: Config['tokens'], routes: ReadonlyMap<string, Route>): void;
  /** Takes no new connections, or takes them again; those that are open stay. */
  setAccepting(accepting: boolean): void;
  /**
   * Another process is about to serve: opens no sockets, and closes each connection with its answer. Some time after {@link drain} began
   * it answers with 503.
   */
  handOver(): void;
  /** Takes nothing new and closes the sockets with 1001, over `limits.drain`; resolves when the closing frames are out. */
  drain(): Promise<void>;
  /** Closes the listener and all connections at once, but for TLS handshakes that wait for their turn; resolves when those are closed too. */
  close(): Promise<void>;
}

/** Requests per second and client address on routes without a token. */
const OPEN_REQUESTS_PER_SECOND = 5;
/** How often kept answers are looked through for those that are no longer true. */
const SWEEP_INTERVAL_MS = 1_000;
/** What the event loop and the kernel need to send the closing frames. */
const CLOSING_MS = 100;
/**
 * After another process has taken over: how long requests on connections to this one get an answer, which is at most a little older than the
 * other's, and when all of them end. A client that comes back after a close asks on a connection that it has, within a quarter of a second.
 */
const LAST_ANSWERS_MS = 500;
const HANDED_OVER_CLOSING_MS = 1_000;

export function createServer(ws: typeof uWS, options: ServerOptions): Server {
  const { config, at, clock, fanOut, stream, aggregates, receiver, counters, logger } = options;
  const { limits } = config;
  const tokens = new TokenDirectory(config.tokens);
  const clientOf = clientAddressReader(config.listen.trustedProxies);
  const origins = new Origins(config);
  const publishers = new PublisherLoginCheck({
    findPublisher: options.findPublisher,
    isSigned: options.isLoginSigned,
    clock,
    window: { maxPastNs: config.ingest.loginMaxPastNs, maxFutureNs: config.ingest.loginMaxFutureNs },
  });
  const logins = new Logins({
    tokens,
    publishers,
    tickets: options.tickets,
    origins,
    clock,
    clientOf,
    failuresPerMinute: limits.failedLoginsPerMinute,
    failures: new RateLimiter(clock, new CallerTimes(options.access.failures)),
    familiar: new CallerTimes(options.access.familiar),
    limitedUntilNs: new BigInt64Array(options.access.limitedUntilNs),
    onRefused: (reason) => countReason(counters.loginsRefused, reason),
    onLimited: (address) => logger.warn({ address }, 'too many failed logins from an address'),
  });
  const callers = new CallerCounts(options.access.callers, options.thread);
  const sockets = new ConnectionRegistry(
    logins,
    {
      connectionsPerTokenMax: limits.connectionsPerToken,
      streamConnectionsMax: limits.streamConnections,
    },
    callers,
  );
  const budgets = new BudgetDirectory(limits, callers, (limit, caller) =>
    countBudgetRefusal(counters, limit, caller),
  );
  const onFault = (path: string, error: unknown) => logger.error({ path, err: error }, 'fault in a handler');
  let { routes } = options;

  const reading = {
    messageBytesMax: limits.clientMessageBytes,
    idleTimeoutSeconds: limits.idleTimeoutSeconds,
  };
  const endpoints = [
    streamEndpoint({ stream, signsPayloads: options.signsPayloads, budgets, ...reading }),
    ...aggregateEndpoints({ aggregates, budgets, ...reading }),
    ...publishEndpoints({
      receiver,
      clock,
      budgets,
      counts: callers,
      publishBytesPerSecondMax: limits.publishBytesPerSecond,
      badMessagesPerSecondMax: limits.badMessagesPerSecond,
      messageBytesMax: limits.publishMessageBytes,
      updatesPerMessageMax: limits.updatesPerMessage,
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
  const answers = new AnswerCache();
  const sweep = setInterval(() => answers.sweep(), SWEEP_INTERVAL_MS).unref();
  const limiter = new RateLimiter(clock, new CallerTimes(options.access.requests));
  const page = createPage({ files: loadPage(), clientOf, limiter });
  const rest = createRest({
    routes: () => routes,
    logins,
    clientOf,
    limiter,
    answers,
    requestsPerSecond: OPEN_REQUESTS_PER_SECOND,
    onFault,
  });
  const openRest = withCrossOrigin(origins, rest);
  /** While the next process starts, this one has all that is on disk, but no ticket of it counts later. */
  const answerRest: AnswerRest = (request) => {
    if (isReplaced || (isHandedOver && request.path === REST_PATHS.streamTicket)) return STARTING;
    const response = page(request) ?? openRest(request);
    return isHandedOver ? { ...response, closeConnection: true } : response;
  };
  const host: ListenerHost = {
    fanOut,
    endpoints,
    decideUpgrade: (endpoint, request) => sockets.decide(endpoint, request),
    rest: measureRequests(answerRest, (path) => routes.has(path), counters),
  };
  let listener: ReplaceableListener | undefined;
  let isHandedOver = false;
  let isReplaced = false;
  const { tls } = at;
  let certificate = tls && certificateId(tls);

  /** The files have other contents than before: connections from now on get the new certificate. */
  function renewCertificate(files: TlsFiles): void {
    const next = certificateId(files);
    if (next === certificate) return;
    try {
      createApp(ws, at).close();
    } catch (error) {
      logger.error({ err: error }, 'the new certificate cannot be used; the old one stays');
      return;
    }
    certificate = next;
    // One that opens later reads the files then.
    listener?.replace().then(
      () => logger.info('the certificate was read again'),
      (error) => logger.error({ err: error }, 'no listener for the new certificate'),
    );
  }

  return {
    async listen() {
      listener = new ReplaceableListener(() => openListener(ws, at, host));
    },
    get port() {
      return listener!.port;
    },
    sockets,
    reload(nextTokens, nextRoutes) {
      tokens.reload(nextTokens);
      publishers.reload();
      routes = nextRoutes;
      answers.clear();
      sockets.closeRevoked();
      if (tls !== undefined) renewCertificate(tls);
    },
    setAccepting: (accepting) => listener?.setAccepting(accepting),
    handOver() {
      isHandedOver = true;
      sockets.draining = true;
    },
    async drain() {
      if (listener !== undefined) await stopAccepting(listener);
      if (isHandedOver)
        setTimeout(() => {
          isReplaced = true;
        }, LAST_ANSWERS_MS).unref();
      await sockets.drain(limits.drainMs);
      const closingMs = isHandedOver ? HANDED_OVER_CLOSING_MS : CLOSING_MS;
      await new Promise((resolve) => setTimeout(resolve, closingMs));
    },
    async close() {
      clearInterval(sweep);
      await listener?.close();
    },
  };
}
