import type uWS from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { Counters } from '../counters.js';
import type { Clock } from '../model/time.js';
import type { Pipeline } from '../pipeline.js';
import type { StreamEngine } from '../stream/engine.js';
import { serveAdmin } from './admin.js';
import { createApp, listen } from './app.js';
import { TokenDirectory } from './auth.js';
import { serveRest } from './http.js';
import { servePublishers } from './publish_socket.js';
import { RateLimiter } from './rate_limit.js';
import { createRest } from './rest.js';
import type { Route } from './route.js';
import { SocketRegistry } from './sockets.js';
import { serveStreams } from './stream_socket.js';

export interface DoorOptions {
  readonly config: Config;
  readonly routes: ReadonlyMap<string, Route>;
  readonly clock: Clock;
  readonly stream: StreamEngine;
  readonly pipeline: Pipeline;
  /** Resolves when all that was accepted so far is on disk; rejects while the disk fails. */
  readonly durable: () => Promise<void>;
  readonly health: () => { readonly ok: true } | { readonly ok: false; readonly reason: string };
  /** The metrics in the Prometheus text format. */
  readonly metrics: () => Promise<string>;
  readonly counters: Counters;
  readonly logger: Logger;
}

/** The listeners of the service: REST and the sockets on one, the admin paths on the other. */
export interface Doors {
  readonly port: number;
  readonly adminPort: number;
  readonly sockets: SocketRegistry;
  /** Sends a text frame to every connection of a topic. */
  publish(topic: string, frame: Uint8Array): void;
  /** Puts changed tokens and routes in force; closes the sockets of revoked tokens. */
  reload(tokens: Config['tokens'], routes: ReadonlyMap<string, Route>): void;
  /** Takes nothing new and closes the sockets with 1001; resolves when the closing frames are out. */
  drain(): Promise<void>;
  close(): void;
}

/** Requests per second and client address on routes without a token. */
const OPEN_REQUESTS_PER_SECOND = 5;
/** What the event loop and the kernel need to send the closing frames. */
const CLOSING_MS = 100;

/** @throws Error when an address is in use or TLS cannot start. */
export async function openDoors(ws: typeof uWS, options: DoorOptions): Promise<Doors> {
  const { config, clock, stream, pipeline, counters, logger } = options;
  const { limits } = config;
  const app = createApp(ws, config.listen);
  const admin = createApp(ws, config.admin);
  const tokens = new TokenDirectory(config.tokens);
  const sockets = new SocketRegistry(tokens, {
    connectionsPerTokenMax: limits.connectionsPerToken,
    streamConnectionsMax: limits.streamConnections,
  });
  const onFault = (path: string, error: unknown) => logger.error({ path, err: error }, 'fault in a handler');
  let { routes } = options;

  serveStreams(app, {
    stream,
    registry: sockets,
    messageBytesMax: limits.clientMessageBytes,
    idleTimeoutSeconds: limits.idleTimeoutSeconds,
  });
  servePublishers(app, {
    pipeline,
    registry: sockets,
    messageBytesMax: limits.publishMessageBytes,
    durable: options.durable,
    onReplyDropped: () => {
      counters.repliesDropped++;
    },
    onFault,
  });
  const rest = createRest({
    routes: () => routes,
    tokens,
    limiter: new RateLimiter(clock),
    requestsPerSecond: OPEN_REQUESTS_PER_SECOND,
    onFault,
  });
  serveRest(app, rest);
  serveAdmin(admin, {
    notReady() {
      const health = options.health();
      const reasons = sockets.draining ? ['the service is shutting down'] : [];
      return health.ok ? reasons : [...reasons, health.reason];
    },
    metrics: options.metrics,
  });

  const listening = await listen(ws, app, config.listen);
  const adminListening = await listen(ws, admin, config.admin).catch((error) => {
    listening.close();
    throw error;
  });
  return {
    port: listening.port,
    adminPort: adminListening.port,
    sockets,
    publish: (topic, frame) => {
      app.publish(topic, frame, false);
    },
    reload(nextTokens, nextRoutes) {
      tokens.reload(nextTokens);
      routes = nextRoutes;
      sockets.closeRevoked();
    },
    async drain() {
      sockets.drain();
      listening.stopListening();
      await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
    },
    close() {
      listening.close();
      adminListening.close();
    },
  };
}
