import type uWS from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { PublishReceiver } from '../aggregator/session.js';
import type { Config } from '../config/config.js';
import { type Counters, countReason } from '../metrics/counters.js';
import type { Clock } from '../model/time.js';
import type { AggregateStreams } from '../stream/aggregate_streams.js';
import { frameBytesMax } from '../stream/encoder.js';
import type { StreamEngine } from '../stream/engine.js';
import type { FanOut } from '../stream/fan_out.js';
import { clientAddressReader } from './access/client_address.js';
import { Logins } from './access/logins.js';
import { PublisherLogins, type PublisherLoginsOptions } from './access/publisher_logins.js';
import { RateLimiter } from './access/rate_limit.js';
import { TokenDirectory } from './access/tokens.js';
import { serveAdmin } from './admin.js';
import { aggregateEndpoints } from './connections/aggregate_endpoint.js';
import { publishEndpoints } from './connections/publish_endpoint.js';
import { ConnectionRegistry } from './connections/registry.js';
import { streamEndpoint } from './connections/stream_endpoint.js';
import { AnswerCache } from './rest/answer_cache.js';
import { createRest } from './rest/rest.js';
import type { Route } from './rest/route.js';
import { openThreadedListener, threadRingBytes } from './threads/threaded_listener.js';
import { certificateId, claimPort, createApp, listen, type TlsFiles } from './uws/app.js';
import { FileHandleWatch } from './uws/file_handles.js';
import { type ListenerHost, openListener, type Waiting } from './uws/listener.js';
import { ReplaceableListener } from './uws/replaceable_listener.js';

export interface ServerOptions {
  readonly config: Config;
  /** How many threads serve REST and the sockets; one is the calling thread. */
  readonly threads: number;
  /** The hash of another build of uWebSockets.js that the operator trusts. */
  readonly allowedSha256: string | undefined;
  readonly routes: ReadonlyMap<string, Route>;
  readonly clock: Clock;
  /** Brings frames to connections: each listener registers with it. */
  readonly fanOut: FanOut;
  readonly stream: StreamEngine;
  readonly aggregates: AggregateStreams;
  readonly findPublisher: PublisherLoginsOptions['findPublisher'];
  readonly isLoginSigned: PublisherLoginsOptions['isSigned'];
  readonly receiver: PublishReceiver;
  /** Resolves when all that was accepted so far is on disk; rejects while the disk fails. */
  readonly durable: () => Promise<void>;
  readonly health: () => { readonly ok: true } | { readonly ok: false; readonly reason: string };
  /** The metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly counters: Counters;
  readonly logger: Logger;
}

/** The listeners of the service: REST and the sockets on one, the admin paths on the other. */
export interface Server {
  readonly port: number;
  readonly adminPort: number;
  readonly sockets: ConnectionRegistry;
  /** Threads that serve REST and the sockets now. */
  readonly threads: number;
  /** What waits between the main thread and the serving thread that is furthest behind. */
  readonly waiting: Waiting;
  /** Puts changed tokens, routes and TLS files in force; closes the sockets of revoked tokens and of keys that are no longer listed. */
  reload(tokens: Config['tokens'], routes: ReadonlyMap<string, Route>): void;
  /** Takes nothing new and closes the sockets with 1001, over `limits.drain`; resolves when the closing frames are out. */
  drain(): Promise<void>;
  /** Closes both listeners at once, and all connections; resolves when the threads have ended. */
  close(): Promise<void>;
}

/** Requests per second and client address on routes without a token. */
const OPEN_REQUESTS_PER_SECOND = 5;
/** How often kept answers are looked through for those that are no longer true. */
const SWEEP_INTERVAL_MS = 1_000;
/** What the event loop and the kernel need to send the closing frames. */
const CLOSING_MS = 100;

/** @throws Error when an address is in use or TLS cannot start. */
export async function openServer(ws: typeof uWS, options: ServerOptions): Promise<Server> {
  const { config, clock, fanOut, stream, aggregates, receiver, counters, logger } = options;
  const { limits } = config;
  const admin = createApp(ws, config.admin);
  const tokens = new TokenDirectory(config.tokens);
  const clientOf = clientAddressReader(config.listen.trustedProxies);
  const publishers = new PublisherLogins({
    findPublisher: options.findPublisher,
    isSigned: options.isLoginSigned,
    clock,
    window: { maxPastNs: config.ingest.loginMaxPastNs, maxFutureNs: config.ingest.loginMaxFutureNs },
  });
  const logins = new Logins({
    tokens,
    publishers,
    clock,
    clientOf,
    failuresPerMinute: limits.failedLoginsPerMinute,
    onRefused: (reason) => countReason(counters.loginsRefused, reason),
    onLimited: (address) => logger.warn({ address }, 'too many failed logins from an address'),
  });
  const sockets = new ConnectionRegistry(logins, {
    connectionsPerTokenMax: limits.connectionsPerToken,
    streamConnectionsMax: limits.streamConnections,
  });
  const onFault = (path: string, error: unknown) => logger.error({ path, err: error }, 'fault in a handler');
  let { routes } = options;

  const reading = {
    messageBytesMax: limits.clientMessageBytes,
    idleTimeoutSeconds: limits.idleTimeoutSeconds,
  };
  const endpoints = [
    streamEndpoint({ stream, ...reading }),
    ...aggregateEndpoints({ aggregates, ...reading }),
    ...publishEndpoints({
      receiver,
      messageBytesMax: limits.publishMessageBytes,
      durable: options.durable,
      onReplyDropped: () => {
        counters.repliesDropped++;
      },
      onFault,
    }),
  ];
  const answers = new AnswerCache();
  const sweep = setInterval(() => answers.sweep(), SWEEP_INTERVAL_MS).unref();
  const rest = createRest({
    routes: () => routes,
    logins,
    clientOf,
    limiter: new RateLimiter(clock),
    answers,
    requestsPerSecond: OPEN_REQUESTS_PER_SECOND,
    onFault,
  });
  const host: ListenerHost = {
    fanOut,
    endpoints,
    decideUpgrade: (endpoint, request) => sockets.decide(endpoint, request),
    rest,
  };
  serveAdmin(admin, {
    notReady() {
      const health = options.health();
      return [
        ...(sockets.draining ? ['the service is shutting down'] : []),
        ...(handles.isShort ? ['the process runs out of file handles: no new connections'] : []),
        ...(listener.threads < options.threads ? ['a thread that serves sockets is being replaced'] : []),
        ...(health.ok ? [] : [health.reason]),
      ];
    },
    metrics: options.metrics,
  });

  const at = { ...config.listen, port: await claimPort(config.listen) };
  const listener = await ReplaceableListener.open(() =>
    options.threads === 1
      ? openListener(ws, at, host)
      : openThreadedListener({
          threads: options.threads,
          listen: at,
          host,
          ringBytes: threadRingBytes(frameBytesMax(limits.subscriptionsPerConnection)),
          allowedSha256: options.allowedSha256,
          counters,
          onFailure: (error) =>
            logger.error({ err: error }, 'a thread that serves sockets is being replaced'),
        }),
  );
  const { tls } = config.listen;
  let certificate = tls && certificateId(tls);
  // Claimed when the other port is taken, or both could be picked the same.
  const adminListening = await claimPort(config.admin)
    .then((port) => listen(ws, admin, { ...config.admin, port }))
    .catch(async (error) => {
      await listener.close();
      throw error;
    });

  let accepting = true;
  const handles = new FileHandleWatch((handlesFor) => {
    if (handlesFor.clients !== accepting)
      logger.warn(accepting ? 'file handles run out: no new connections' : 'file handles are free again');
    accepting = handlesFor.clients;
    listener.setAccepting(accepting);
    adminListening.setAccepting(handlesFor.admin);
  });

  /** The files have other contents than before: connections from now on get the new certificate. */
  function renewCertificate(files: TlsFiles): void {
    const next = certificateId(files);
    if (next === certificate) return;
    try {
      createApp(ws, config.listen).close();
    } catch (error) {
      logger.error({ err: error }, 'the new certificate cannot be used; the old one stays');
      return;
    }
    certificate = next;
    listener.replace().then(
      () => logger.info('the certificate was read again'),
      (error) => logger.error({ err: error }, 'no listener for the new certificate'),
    );
  }

  return {
    port: listener.port,
    adminPort: adminListening.port,
    sockets,
    get threads() {
      return listener.threads;
    },
    get waiting() {
      return listener.waiting;
    },
    reload(nextTokens, nextRoutes) {
      tokens.reload(nextTokens);
      publishers.reload();
      routes = nextRoutes;
      answers.clear();
      sockets.closeRevoked();
      if (tls !== undefined) renewCertificate(tls);
    },
    async drain() {
      handles.stop();
      listener.setAccepting(false);
      await sockets.drain(limits.drainMs);
      await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    },
    async close() {
      handles.stop();
      clearInterval(sweep);
      const closed = listener.close();
      adminListening.close();
      await closed;
    },
  };
}
