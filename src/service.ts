import { availableParallelism } from 'node:os';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Aggregator } from './aggregator/aggregator.js';
import { isLoginSigned } from './aggregator/login_verifier.js';
import type { PublishReceiver } from './aggregator/session.js';
import { createCalendars } from './calendar/calendars.js';
import { ClockWatch } from './clock/clock_watch.js';
import { DueTick } from './clock/due_tick.js';
import { openSignedTimes } from './clock/signed_times.js';
import { Ticker } from './clock/ticker.js';
import { type Config, changedFixedSections } from './config/config.js';
import type { PrivateKeys } from './config/keys.js';
import { publicUrlOf } from './config/public_url.js';
import { type AggregateSigner, createAggregateSigner } from './crypto/aggregate_signer.js';
import { encodedAssetId } from './crypto/evm.js';
import { createFrameSigner } from './crypto/frame_signer.js';
import { keccak256 } from './crypto/keccak.js';
import { createCryptoPool } from './crypto/pool.js';
import { secp256k1 } from './crypto/secp256k1.js';
import { createCounters } from './metrics/counters.js';
import { createMetrics } from './metrics/metrics.js';
import { Catalogue } from './model/catalogue.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND } from './model/time.js';
import { Markets } from './prices/markets.js';
import { Prices } from './prices/prices.js';
import { aggregateWriter } from './server/routes/aggregate_json.js';
import { createRoutes } from './server/routes/index.js';
import { openServer, type Server } from './server/server.js';
import { planThreads } from './server/threads/thread_plan.js';
import { fileHandleProblem } from './server/uws/file_handles.js';
import { UWS_SHA256_VARIABLE } from './server/uws/machine.js';
import { loadWebSockets } from './server/uws/native.js';
import { openStore } from './store/store.js';
import { AggregateStreams } from './stream/aggregate_streams.js';
import { StreamEngine } from './stream/engine.js';
import { FanOut } from './stream/fan_out.js';
import { PriceTable } from './stream/price_table.js';
import { REAL_TIME_INTERVAL_MS, TICK_MS } from './wire/stream.js';

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
  /** The service's EVM address, which signs aggregates and streaming payloads. */
  readonly evmAddress: string;
  /** The x coordinate of the key that signs Stark aggregates. */
  readonly starkPublicKey: string | undefined;
  /** Assets of the configuration that have no live price now. */
  staleAssets(): number;
  /**
   * Puts a changed configuration in force without closing anything that need not.
   * @throws Error when the store holds a damaged record of an asset that comes back; then nothing has changed.
   */
  reload(config: Config, keys: PrivateKeys): void;
  /**
   * Closes all connections with 1001, writes what is waiting and frees the ports; once, however often it is called.
   * @throws Error when the last commit failed; the ports are free then too.
   */
  stop(): Promise<void>;
  /**
   * For a process that is to exit after a fault: closes every connection and ends the threads. Nothing more is written;
   * what was acknowledged as durable is on disk.
   */
  abandon(): Promise<void>;
}

/** What a reload changes. */
interface InForce {
  readonly config: Config;
  readonly keys: PrivateKeys;
  readonly catalogue: Catalogue;
  readonly markets: Markets;
  readonly signer: AggregateSigner;
}

/**
 * Puts the service together: the aggregator makes prices and tells them to `prices`, which the streams and the server
 * read. Whatever another part needs is made before it.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, clock, logger, simulation = false } = options;
  const { limits } = config;
  const webSockets = loadWebSockets(options.env[UWS_SHA256_VARIABLE]);
  if (secp256k1.implementation !== 'native')
    logger.warn('there is no native secp256k1 for this platform: signatures take 40 times as long');
  const threads = planThreads(config.listen.threads, availableParallelism());
  const handleProblem = fileHandleProblem(threads.listen + threads.crypto);
  if (handleProblem !== undefined) throw new Error(handleProblem);
  const pool = await createCryptoPool({ threads: threads.crypto });
  let inForce = derive(config, options.keys);

  function derive(nextConfig: Config, keys: PrivateKeys, before?: Catalogue): InForce {
    const catalogue = new Catalogue(nextConfig, before);
    const { calendars } = createCalendars(nextConfig.calendars);
    const markets = new Markets(catalogue.assets, calendars);
    // The first use of a time zone takes milliseconds that no tick should wait for.
    markets.statusesAt(Number(clock.nowNs() / NS_PER_SECOND));
    const signer = createAggregateSigner(keys, nextConfig.service.oracleId, pool);
    return { config: nextConfig, keys, catalogue, markets, signer };
  }

  const encodeAssetId = (symbol: string) => encodedAssetId(symbol, config.service.encodedAssetId);
  const aggregateJson = aggregateWriter(config.service.name, encodeAssetId);
  const counters = createCounters();
  const metrics = createMetrics(counters);
  const store = await openStore({ ...storeOptions(inForce), dir: config.storage.dir, clock });
  const { marks, newestSecond } = store;
  // This process is the only node, and this thread makes all frames.
  const times = await openSignedTimes({ clock, marks, newestSecond, node: 0, thread: 0 });
  const clockWatch = new ClockWatch({ clock, ...times, logger });
  const table = new PriceTable(inForce.catalogue.streamingIds);
  const fanOut = new FanOut();
  const shared = { clock, counters, defer: setImmediate };
  const streaming = {
    ...shared,
    newTopic: () => fanOut.newTopic(),
    limits: { ...limits, slowConsumerNs: BigInt(limits.slowConsumerMs) * NS_PER_MS },
  };
  const stream = new StreamEngine({
    table,
    catalogue: inForce.catalogue,
    taxonomyId: config.service.taxonomyId,
    times: times.streams,
    statusesAt: (unixS) => inForce.markets.statusesAt(unixS),
    digest: keccak256,
    ...createFrameSigner(() => inForce.keys.evm, pool),
    publish(topic, frame, sequence) {
      fanOut.publish(topic, frame, sequence);
      counters.frameLatency.sent(sequence, clock);
    },
    ...streaming,
  });
  const aggregates: AggregateStreams = new AggregateStreams({
    findAsset: (symbol, type) => inForce.catalogue.findAsset(symbol, type),
    latest: (asset) => prices.latest(asset),
    json: aggregateJson,
    publish: (topic, frame, sequence) => fanOut.publish(topic, frame, sequence),
    ...streaming,
  });
  const prices = new Prices({ catalogue: inForce.catalogue, clock, table, stream, aggregates, store });
  const aggregator = new Aggregator({
    catalogue: inForce.catalogue,
    ...shared,
    ingest: config.ingest,
    times: times.aggregates,
    pool,
    signer: () => inForce.signer,
    sink: prices,
    epoch: await marks.countStart(),
    inputs: store,
    updatesPerMessageMax: limits.updatesPerMessage,
    badSignaturesPerSecondMax: limits.badSignaturesPerSecond,
    onApplied: (receivedNs) => counters.frameLatency.received(table.sequence, receivedNs),
    onSigningFailed: (count, error) => logger.error({ count, err: error }, 'aggregates could not be signed'),
  });
  aggregator.restore();
  prices.restore();

  const dueTick = new DueTick(BigInt(TICK_MS) * NS_PER_MS, (nowNs) => {
    aggregator.tick(nowNs);
    stream.tick(nowNs);
    aggregates.tick(nowNs);
    clockWatch.tick(nowNs);
  });
  const receiver: PublishReceiver = {
    receive(session, text) {
      dueTick.runIfDue(clock.nowNs());
      return aggregator.receive(session, text);
    },
  };

  function routes() {
    const { catalogue, markets, config: now, signer } = inForce;
    return createRoutes({
      clock,
      simulation,
      listed: catalogue.listed,
      symbols: [...new Set(catalogue.listed.map(({ symbol }) => symbol))],
      findAsset: (symbol, signatureType) => catalogue.findAsset(symbol, signatureType),
      prices,
      readCandles: (asset, resolution, fromS, toS) =>
        store.history(asset, resolution, fromS, toS, limits.candlesPerRequest),
      sealedDays: (asset) => store.sealedDays(asset),
      calendarOf: (asset) => markets.calendarOf(asset),
      serviceName: config.service.name,
      taxonomyId: config.service.taxonomyId,
      signer,
      encodedAssetId: encodeAssetId,
      aggregateJson,
      assetsPerRequestMax: limits.assetsPerRequest,
      candlesPerRequestMax: limits.candlesPerRequest,
      deployments: now.deployments,
      pushedAssets: now.pushedAssets,
      publisherByKey: (type, key) => catalogue.publisherByKey(type, key),
      publicUrl: () => publicUrlOf(config, server.port),
      onPublisherMetadata: (about) => logger.info(about, 'publisher metadata'),
    });
  }

  let server: Server;
  try {
    server = await openServer(webSockets, {
      config,
      threads: threads.listen,
      allowedSha256: options.env[UWS_SHA256_VARIABLE],
      routes: routes(),
      clock,
      fanOut,
      stream,
      aggregates,
      findPublisher: (type, key) => inForce.catalogue.publisherByKey(type, key),
      isLoginSigned: (claim) => isLoginSigned(claim, pool.here),
      receiver,
      // A price that moved far enough is signed at the end of this turn: its aggregate is to be in the same commit.
      durable: () => endOfTurn().then(() => store.durable()),
      health: () => clockWatch.addTo(store.health()),
      metrics: () => metrics.text(),
      counters,
      logger,
    });
  } catch (error) {
    await pool.close();
    await store.close();
    throw error;
  }
  const streams = [stream, aggregates];
  metrics.measure({ pool, aggregator, streams, store, table, server, clock: clockWatch });
  const ticker = new Ticker(TICK_MS, () => {
    dueTick.run(clock.nowNs());
    ticker.setInterval(stream.hasRealTime ? REAL_TIME_INTERVAL_MS : TICK_MS);
  });

  /** Puts a reload in force. The order matters: each part finds what it reads changed already. */
  function apply(next: InForce): void {
    const { catalogue } = next;
    // The only step that can fail, on a damaged record of an asset that comes back: nothing has changed before it.
    store.reconfigure(storeOptions(next));
    inForce = next;
    // The table has room for a new asset before anybody can price it,
    table.resize(catalogue.streamingIds);
    prices.reload(catalogue);
    // which the aggregator does at once, from inputs that now count; assets that are gone lose their price.
    aggregator.reload(catalogue);
    // Tokens change before the streams look at what each connection may still see.
    server.reload(next.config.tokens, routes());
    stream.reload(catalogue);
    aggregates.reload();
  }

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    await server.drain();
    await ticker.stop();
    await pool.close();
    times.aggregates.close();
    try {
      await store.close();
    } finally {
      // An open port would keep a process alive whose last commit failed.
      await server.close();
    }
  }

  return {
    port: server.port,
    adminPort: server.adminPort,
    evmAddress: inForce.signer.evmAddress,
    starkPublicKey: inForce.signer.starkPublicKey,
    staleAssets: () => inForce.catalogue.listed.filter(({ index }) => table.live[index] === 0).length,
    reload(nextConfig, keys) {
      const sections = changedFixedSections(inForce.config, nextConfig);
      if (sections.length > 0) logger.warn({ sections }, 'these sections take effect at the next start');
      apply(derive(nextConfig, keys, inForce.catalogue));
    },
    stop: () => (stopped ??= stop()),
    async abandon() {
      await Promise.all([server.close(), ticker.stop(), pool.close()]);
    },
  };
}

const storeOptions = ({ catalogue, config }: InForce) => ({
  assets: catalogue.listed,
  candleRetentionMs: Number(config.storage.candleRetentionNs / NS_PER_MS),
});
