import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { createCalendars } from './calendar/calendars.js';
import type { Config } from './config/config.js';
import type { PrivateKeys } from './config/keys.js';
import { type Counters, createCounters } from './counters.js';
import { encodedAssetId } from './crypto/evm.js';
import { keccak256 } from './crypto/keccak.js';
import { type CryptoPool, createCryptoPool } from './crypto/pool.js';
import { secp256k1 } from './crypto/secp256k1.js';
import { type Catalogue, createGate } from './ingest/gate.js';
import { Markets } from './markets.js';
import { createMetrics } from './metrics.js';
import type { Clock } from './model/time.js';
import { Pipeline } from './pipeline.js';
import { serveAdmin } from './server/admin.js';
import { createApp, listen } from './server/app.js';
import { TokenDirectory } from './server/auth.js';
import { serveRest } from './server/http.js';
import { loadWebSockets, UWS_SHA256_VARIABLE } from './server/native.js';
import { servePublishers } from './server/publish_socket.js';
import { RateLimiter } from './server/rate_limit.js';
import { createRest } from './server/rest.js';
import { createRoutes } from './server/routes.js';
import { SocketRegistry } from './server/sockets.js';
import { serveStreams } from './server/stream_socket.js';
import { createAggregateSigner } from './signer.js';
import { StreamEngine } from './stream/engine.js';
import { PriceTable } from './stream/price_table.js';
import { Ticker } from './stream/ticker.js';

export interface ServiceOptions {
  readonly config: Config;
  readonly keys: PrivateKeys;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The prices are simulated: shown wherever assets are listed. */
  readonly simulation?: boolean;
}

export interface Service {
  readonly port: number;
  readonly adminPort: number;
  /** The service's EVM address. */
  readonly evmAddress: string;
  /** Closes all sockets with 1001, finishes what is under way and frees the ports. */
  stop(): Promise<void>;
}

/** Requests per second and client address on routes without a token. */
const OPEN_REQUESTS_PER_SECOND = 5;
/** The fixed channels are multiples of 10 ms; `real_time` needs every millisecond. */
const TICK_MS = 10;
const REAL_TIME_TICK_MS = 1;
/** After the close frames are written, what the kernel needs to send them. */
const CLOSING_MS = 100;

/** Puts the rooms together and opens the doors. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, keys, clock, logger, env } = options;
  const ws = loadWebSockets(env[UWS_SHA256_VARIABLE]);
  if (secp256k1.implementation !== 'native')
    logger.warn('no native secp256k1 here: signatures take 40 times as long');
  const pool = await createCryptoPool({ threads: Math.max(1, availableParallelism() - 1) });
  const counters = createCounters();
  const app = createApp(ws, config.listen);
  const admin = createApp(ws, { ...config.admin });

  const catalogue = createCatalogue(config);
  const signer = createAggregateSigner(keys, config.service.oracleId, pool);
  const table = new PriceTable(config.assets.map(({ id }) => id));
  const { calendars } = createCalendars(config.calendars);
  const markets = new Markets(config.assets, calendars);
  const stream = new StreamEngine({
    table,
    symbols: config.assets.map(({ symbol }) => symbol),
    taxonomyId: config.service.taxonomyId,
    clock,
    statusesAt: (unixS) => markets.statusesAt(unixS),
    digest: keccak256,
    signOne: (digest) => {
      const { signature, recovery } = secp256k1.sign(digest, keys.evm);
      return { r: signature.subarray(0, 32), s: signature.subarray(32), recovery };
    },
    sign: (digests) => pool.signEvm(digests, keys.evm),
    publish: (topic, frame) => app.publish(topic, frame, false),
    defer: setImmediate,
    limits: {
      clientMessageBytes: config.limits.clientMessageBytes,
      subscriptionsPerConnection: config.limits.subscriptionsPerConnection,
      controlMessagesPerSecond: config.limits.controlMessagesPerSecond,
      slowConsumerNs: BigInt(config.limits.slowConsumerMs) * 1_000_000n,
    },
    counters,
  });
  const pipeline = new Pipeline({
    assets: config.assets,
    clock,
    gate: createGate({ catalogue, clock, ...config.ingest }),
    pool,
    signer,
    table,
    stream,
    updatesPerMessageMax: config.limits.updatesPerMessage,
    counters,
    defer: setImmediate,
  });

  const tokens = new TokenDirectory(config.tokens);
  const registry = new SocketRegistry(() => tokens, {
    connectionsPerTokenMax: config.limits.connectionsPerToken,
    streamConnectionsMax: config.limits.streamConnections,
  });
  const onFault = (path: string, error: unknown) => logger.error({ path, err: error }, 'fault in a handler');
  serveStreams(app, {
    stream,
    registry,
    messageBytesMax: config.limits.clientMessageBytes,
    idleTimeoutSeconds: config.limits.idleTimeoutSeconds,
  });
  servePublishers(app, {
    pipeline,
    registry,
    messageBytesMax: config.limits.publishMessageBytes,
    onReplyDropped: () => {
      counters.repliesDropped++;
    },
    onFault,
  });
  const routes = createRoutes({
    prices: {
      assets: config.assets,
      assetBySymbol: catalogue.assetBySymbol,
      latest: (asset) => pipeline.latest(asset),
    },
    serviceName: config.service.name,
    taxonomyId: config.service.taxonomyId,
    encodedAssetId: (symbol) => encodedAssetId(symbol, config.service.encodedAssetId),
    assetsPerRequestMax: config.limits.assetsPerRequest,
    simulation: options.simulation ?? false,
  });
  serveRest(
    app,
    createRest({
      routes,
      tokens: () => tokens,
      limiter: new RateLimiter(clock),
      requestsPerSecond: OPEN_REQUESTS_PER_SECOND,
      onFault,
    }),
  );
  serveAdmin(admin, {
    notReady: () => (registry.draining ? ['the service is shutting down'] : []),
    metrics: createServiceMetrics(counters, { pool, pipeline, stream, registry, table }),
  });

  const listening = await listen(ws, app, config.listen);
  const adminListening = await listen(ws, admin, config.admin).catch(async (error) => {
    listening.close();
    await pool.close();
    throw error;
  });
  const ticker = new Ticker(TICK_MS, () => {
    pipeline.tick(clock.nowNs());
    ticker.setInterval(stream.hasRealTime ? REAL_TIME_TICK_MS : TICK_MS);
  });

  return {
    port: listening.port,
    adminPort: adminListening.port,
    evmAddress: signer.evmAddress,
    async stop() {
      registry.draining = true;
      listening.stopListening();
      registry.closeWhere(() => true, 1001, 'the service is shutting down');
      await ticker.stop();
      await pool.close();
      await new Promise((resolve) => setTimeout(resolve, CLOSING_MS));
      listening.close();
      adminListening.close();
    },
  };
}

function createCatalogue({ assets, publishers }: Config): Catalogue {
  const bySymbol = new Map(assets.map((asset) => [asset.symbol, asset]));
  const keyOf = (type: string, key: Buffer) => `${type} ${key.toString('latin1')}`;
  const byKey = new Map(
    publishers.map((publisher) => [keyOf(publisher.signatureType, publisher.key), publisher]),
  );
  return {
    assetBySymbol: (symbol) => bySymbol.get(symbol),
    publisherByKey: (type, key) => byKey.get(keyOf(type, key)),
  };
}

interface Measured {
  readonly pool: CryptoPool;
  readonly pipeline: Pipeline;
  readonly stream: StreamEngine;
  readonly registry: SocketRegistry;
  readonly table: PriceTable;
}

function createServiceMetrics(counters: Counters, { pool, pipeline, stream, registry, table }: Measured) {
  const live = () => table.live.reduce((sum, one) => sum + one, 0);
  return createMetrics(counters, {
    connections: () => registry.size,
    streamConnections: () => registry.streams,
    streamGroups: () => stream.groupCount,
    updatesWaiting: () => pipeline.updatesWaiting,
    cryptoJobsQueued: () => pool.queued,
    cryptoPoolFailures: () => pool.failures,
    liveAssets: live,
    staleAssets: () => table.live.length - live(),
  });
}
