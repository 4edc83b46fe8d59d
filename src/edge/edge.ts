import { createCalendars } from '../calendar/calendars.js';
import { ClockWatch, secondsOf, streamTroubles } from '../clock/clock_watch.js';
import { type Marks, openStreamTimes, type SignerPlace } from '../clock/signed_times.js';
import type { Config } from '../config/config.js';
import { publicUrlOf } from '../config/public_url.js';
import { encodedAssetId } from '../crypto/evm.js';
import { createFrameSigner } from '../crypto/frame_signer.js';
import { keccak256Into } from '../crypto/keccak.js';
import type { CryptoPool } from '../crypto/pool/pool.js';
import type { Feed } from '../feed/feed.js';
import type { Counters } from '../metrics/counters.js';
import { FrameLatency } from '../metrics/frame_latency.js';
import type { ServingReport } from '../metrics/metrics.js';
import type { Simulated } from '../model/asset.js';
import type { Catalogue } from '../model/catalogue.js';
import { inForceAt } from '../model/key_schedule.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { isLoginSigned } from '../server/access/login_verifier.js';
import type { SharedAccess } from '../server/access/shared_access.js';
import { TicketIssuer } from '../server/access/ticket_issuer.js';
import { aggregateWriter } from '../server/routes/aggregate_json.js';
import { createRoutes } from '../server/routes/index.js';
import { createServer } from '../server/server.js';
import type { ListenOptions } from '../server/uws/app.js';
import type { WebSocketLibrary } from '../server/uws/native.js';
import type { StoreReader } from '../store/reader.js';
import { AggregateStreams } from '../stream/aggregate_streams.js';
import { StreamEngine } from '../stream/engine.js';
import { FanOut } from '../stream/fan_out.js';
import { PriceTable } from '../stream/price_table.js';
import type { EdgeCommand, EdgeSettings, Identity } from './edge_command.js';
import type { EdgeHooks } from './edge_hooks.js';
import { MarketStatuses } from './market_statuses.js';
import { readPast } from './read_past.js';
import { ServedPrices } from './served_prices.js';
import { loggedDigest, SignedHashes } from './signed_hashes.js';

export interface EdgeOptions {
  /** The settings at the start. Commands change them later. */
  readonly settings: EdgeSettings;
  /** Returns the catalogue of a configuration that the edge applies. The feed identifies assets by the indexes of this catalogue. */
  readonly catalogueOf: (config: Config) => Catalogue;
  /** The address on which the edge listens. The caller has already claimed a port other than 0. */
  readonly at: ListenOptions;
  /**
   * The numbers of the node and the thread for the edge's signatures. No two edges that sign streaming payloads have the same numbers.
   */
  readonly place: SignerPlace;
  /** The facts about simulated prices. Every list of assets shows these facts. */
  readonly simulation: Simulated;
  readonly parts: EdgeParts;
  readonly hooks: EdgeHooks;
}

/** The parts of the process that an edge uses. */
export interface EdgeParts {
  readonly webSockets: WebSocketLibrary;
  /** The counters and numbers that all edges of the process share. */
  readonly access: SharedAccess;
  readonly clock: Clock;
  readonly marks: Marks;
  readonly store: StoreReader;
  readonly pool: Pick<CryptoPool, 'here' | 'signEvm'>;
  readonly counters: Counters;
}

/** A complete server on one thread, for all readers and publishers. The thread that makes prices sends them to this server. */
export interface Edge extends Feed {
  /**
   * Resolves when the edge serves.
   * @throws Error when the address is in use or TLS cannot start
   */
  listen(): Promise<void>;
  /** The port; valid after {@link listen} resolved. */
  readonly port: number;
  do(command: EdgeCommand): void;
  /** Ticks the parts of the edge. */
  tick(nowNs: TimeNs): void;
  /** Returns the time of the next tick that the edge needs; `undefined` when a regular tick is early enough. */
  nextDueNs(nowNs: TimeNs): bigint | undefined;
  report(): ServingReport;
  /** Returns the problems with the times that the edge signs. */
  troubles(): readonly string[];
  /** Refuses new connections, and closes the sockets with 1001. Resolves when the close frames are sent. */
  drain(): Promise<void>;
  /** Closes all connections and the port immediately. */
  close(): Promise<void>;
}

/** The parts of an edge that a reload changes. */
interface ServedCatalogue {
  readonly config: Config;
  readonly identity: Identity;
  readonly catalogue: Catalogue;
  readonly markets: MarketStatuses;
}

/** Opens an edge. Resolves when the marks of the stream times are on disk, or when the write of a mark has failed. */
export async function openEdge(options: EdgeOptions): Promise<Edge> {
  const { settings, at, place, simulation } = options;
  const { webSockets, access, clock, marks, store, pool, counters } = options.parts;
  const { receiver, askPast, onWork, onSigned, onDue, logger } = options.hooks;
  const { config } = settings;
  const { limits } = config;
  let served = derive(config, settings.identity);
  let { nodes } = settings;

  function reload(next: Config, identity: Identity): void {
    served = derive(next, identity);
    const { catalogue } = served;
    table.resize(catalogue.streamingIds);
    // Tokens change before the streams, because the streams check which assets each connection may still see.
    server.reload(next.tokens, routes());
    stream.reload(catalogue);
    aggregates.reload();
  }

  function derive(next: Config, identity: Identity): ServedCatalogue {
    const catalogue = options.catalogueOf(next);
    const { calendars } = createCalendars(next.calendars);
    const markets = new MarketStatuses(catalogue.assets, calendars);
    // This call computes the status early, because the first use of a time zone takes milliseconds, which is too long for a tick.
    markets.statusesAt(Number(clock.nowNs() / NS_PER_SECOND));
    return { config: next, identity, catalogue, markets };
  }

  const encodeAssetId = (symbol: string) => encodedAssetId(symbol, config.service.encodedAssetId);
  const signed = () => ({ config: served.config, nodes });
  const past = readPast({ config, signed, here: pool.here, ask: askPast, logger });
  const tickets = new TicketIssuer(access.tickets, clock);
  const aggregateJson = aggregateWriter(config.service.name, encodeAssetId);
  const times = await openStreamTimes(clock, marks, place);
  const clockWatch = new ClockWatch({ clock, troubles: streamTroubles(times), logger });
  const table = new PriceTable(served.catalogue.streamingIds);
  const latency = new FrameLatency(counters.frameLatency);
  const fanOut = new FanOut();
  const hashes = onSigned && new SignedHashes(onSigned, () => performance.now());
  const streaming = {
    clock,
    counters,
    defer: setImmediate,
    onDue,
    newTopic: () => fanOut.newTopic(),
    limits: { ...limits, slowConsumerNs: BigInt(limits.slowConsumerMs) * NS_PER_MS },
  };
  const stream: StreamEngine = new StreamEngine({
    table,
    catalogue: served.catalogue,
    taxonomyId: config.service.taxonomyId,
    times,
    statusesAt: (unixS) => served.markets.statusesAt(unixS),
    qualityOf: (asset): string | undefined => prices.qualityOf(asset),
    digest: loggedDigest(keccak256Into, hashes),
    ...createFrameSigner(() => inForceAt(served.identity.streamKeys, clock.nowNs()).key, pool),
    publish(topic, frame, sequence, isBinary) {
      fanOut.publish(topic, frame, sequence, isBinary);
      latency.sent(sequence, clock);
    },
    ...streaming,
  });
  const aggregates: AggregateStreams = new AggregateStreams({
    findAsset: (symbol, type) => served.catalogue.findAsset(symbol, type),
    latest: (asset) => prices.latest(asset),
    json: aggregateJson,
    publish: (topic, frame, sequence) => fanOut.publish(topic, frame, sequence),
    ...streaming,
  });
  const prices: ServedPrices = new ServedPrices({ table, stream, aggregates });

  function routes() {
    const { catalogue, markets, config: now } = served;
    return createRoutes({
      clock,
      announcements: now.announcements,
      simulation,
      listed: catalogue.listed,
      symbols: [...new Set(catalogue.listed.map(({ symbol }) => symbol))],
      findAsset: (symbol, signatureType) => catalogue.findAsset(symbol, signatureType),
      prices: {
        latest: (asset) => prices.latest(asset),
        latestVersion: () => prices.latestVersion,
        recent: (asset, second) => store.recent(asset, second),
      },
      ...past,
      newest: (asset) => store.newest(asset),
      readCandles: (asset, resolution, fromS, toS) =>
        store.history(asset, resolution, fromS, toS, limits.candlesPerRequest),
      candleDays: (asset) => store.candleDays(asset),
      sealedDays: (asset) => store.sealedDays(asset),
      calendarOf: (asset) => markets.calendarOf(asset),
      serviceName: config.service.name,
      taxonomyId: config.service.taxonomyId,
      oracleId: config.service.oracleId,
      nodes: () => nodes,
      encodedAssetId: encodeAssetId,
      aggregateJson,
      assetsPerRequestMax: limits.assetsPerRequest,
      candlesPerRequestMax: limits.candlesPerRequest,
      rangeRowsMax: limits.rangeRows,
      deployments: now.deployments,
      pushedAssets: now.pushedAssets,
      publisherByKey: (type, key) => catalogue.publisherByKey(type, key),
      publicUrl: () => publicUrlOf(config, server.port),
      tickets,
      onPublisherMetadata: (about) => logger.info(about, 'publisher metadata'),
    });
  }

  const server = createServer(webSockets, {
    config,
    at,
    routes: routes(),
    logFiles: past.logFiles,
    streamLogFiles: past.streamLogFiles,
    clock,
    counters,
    logger,
    onWork,
    access: {
      shared: access,
      thread: place.thread,
      tickets,
      findPublisher: (type, key) => served.catalogue.publisherByKey(type, key),
      isLoginSigned: (claim) => isLoginSigned(claim, pool.here),
    },
    streams: {
      fanOut,
      stream,
      idOf: (symbol) => served.catalogue.findAsset(symbol)?.id,
      signsPayloads: () => served.identity.streamKeys.length > 0,
      aggregates,
      receiver,
    },
  });

  return {
    listen: () => server.listen(),
    get port() {
      return server.port;
    },
    begin: (snapshot) => prices.begin(snapshot),
    priced: (message) => prices.priced(message),
    recorded: (message) => prices.recorded(message),
    withdrawn: (message) => prices.withdrawn(message),
    ended: (message) => prices.ended(message),
    applied(receivedNs) {
      latency.received(table.sequence, receivedNs);
      stream.messageApplied();
    },
    // The store of this edge follows commits without calls from the edge.
    committing() {},
    committed() {},
    do(command) {
      switch (command.do) {
        case 'reload':
          reload(command.config, command.identity);
          break;
        case 'setNodes':
          nodes = command.nodes;
          break;
        case 'setAccepting':
          server.setAccepting(command.accepting);
          break;
        case 'handOver':
          server.handOver();
          hashes?.flush();
          break;
        case 'storeChanged':
        // This edge reads the changed store directly, so the command needs no action.
      }
    },
    tick(nowNs) {
      stream.tick(nowNs);
      hashes?.tick();
      aggregates.tick(nowNs);
      clockWatch.tick(nowNs);
    },
    nextDueNs: (nowNs) => stream.nextDueNs(nowNs),
    report: () => ({
      connections: server.sockets.size,
      streamConnections: server.sockets.streams,
      streamGroups: stream.groupCount + aggregates.groupCount,
      streamsAheadSeconds: secondsOf(times.aheadNs),
    }),
    troubles: () => clockWatch.reasons(),
    drain: () => server.drain().finally(() => hashes?.flush()),
    async close() {
      await server.close();
      await past.past.close();
    },
  };
}
