import type { Logger } from 'pino';
import type { PublishReceiver } from '../aggregator/publisher_session.js';
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
import type { Catalogue } from '../model/catalogue.js';
import type { NodeList } from '../model/node_list.js';
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
import { MarketStatuses } from './market_statuses.js';
import { ServedPrices } from './served_prices.js';

export interface EdgeOptions {
  readonly webSockets: WebSocketLibrary;
  readonly config: Config;
  /** Makes the catalogue of a configuration that comes in force. The feed names assets by the indexes of that catalogue. */
  readonly catalogueOf: (config: Config) => Catalogue;
  readonly identity: Identity;
  readonly nodes: NodeList;
  /** Where to listen; a port other than 0 has been claimed. */
  readonly at: ListenOptions;
  /** No two edges sign streaming payloads at the same place. */
  readonly place: SignerPlace;
  /** What all edges of the process count and issue together. */
  readonly access: SharedAccess;
  readonly clock: Clock;
  readonly marks: Marks;
  readonly store: StoreReader;
  readonly pool: Pick<CryptoPool, 'here' | 'signEvm'>;
  /** Takes what publishers send to this edge. */
  readonly receiver: PublishReceiver;
  readonly counters: Counters;
  /** Something has happened for which the edge needs a tick at this time, if not before. */
  readonly onDue: (timeNs: bigint) => void;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** The prices are simulated: shown wherever assets are listed. */
  readonly simulation: boolean;
}

/** What the edge signs with. */
export interface Identity {
  /** Of streaming payloads; without one they cannot be subscribed. */
  readonly streamKey: Buffer | undefined;
}

/** A whole server: everything that readers and publishers see, on one thread, fed by the one that makes prices. */
export interface Edge extends Feed {
  /** Resolves when it serves. @throws Error when the address is in use or TLS cannot start. */
  listen(): Promise<void>;
  /** Once it listens. */
  readonly port: number;
  /** Puts a changed configuration in force, before anything that only the changed one has is fed. */
  reload(config: Config, identity: Identity): void;
  /** Which nodes there are has changed. */
  setNodes(nodes: NodeList): void;
  /** A tick of the clock. */
  tick(nowNs: TimeNs): void;
  /** When it needs the next one; `undefined` when that has time. */
  nextDueNs(nowNs: TimeNs): bigint | undefined;
  report(): ServingReport;
  /** What is wrong with the times that it signs with. */
  troubles(): readonly string[];
  setAccepting(accepting: boolean): void;
  /** Another process is about to serve: makes no frames, and only answers requests. */
  handOver(): void;
  /** Takes nothing new and closes the sockets with 1001; resolves when the closing frames are out. */
  drain(): Promise<void>;
  /** Closes all connections at once, and the port. */
  close(): Promise<void>;
}

/** What a reload changes. */
interface ServedCatalogue {
  readonly config: Config;
  readonly identity: Identity;
  readonly catalogue: Catalogue;
  readonly markets: MarketStatuses;
}

/** Resolves when the marks of its times are on disk, or cannot be written. */
export async function openEdge(options: EdgeOptions): Promise<Edge> {
  const { config, clock, store, pool, counters, logger } = options;
  const { limits } = config;
  let served = derive(config, options.identity);
  let { nodes } = options;

  function derive(next: Config, identity: Identity): ServedCatalogue {
    const catalogue = options.catalogueOf(next);
    const { calendars } = createCalendars(next.calendars);
    const markets = new MarketStatuses(catalogue.assets, calendars);
    // The first use of a time zone takes milliseconds that no tick should wait for.
    markets.statusesAt(Number(clock.nowNs() / NS_PER_SECOND));
    return { config: next, identity, catalogue, markets };
  }

  const encodeAssetId = (symbol: string) => encodedAssetId(symbol, config.service.encodedAssetId);
  const tickets = new TicketIssuer(options.access.tickets, clock);
  const aggregateJson = aggregateWriter(config.service.name, encodeAssetId);
  const times = await openStreamTimes(clock, options.marks, options.place);
  const clockWatch = new ClockWatch({ clock, troubles: streamTroubles(times), logger });
  const table = new PriceTable(served.catalogue.streamingIds);
  const latency = new FrameLatency(counters.frameLatency);
  const fanOut = new FanOut();
  const streaming = {
    clock,
    counters,
    defer: setImmediate,
    onDue: options.onDue,
    newTopic: () => fanOut.newTopic(),
    limits: { ...limits, slowConsumerNs: BigInt(limits.slowConsumerMs) * NS_PER_MS },
  };
  const stream = new StreamEngine({
    table,
    catalogue: served.catalogue,
    taxonomyId: config.service.taxonomyId,
    times,
    statusesAt: (unixS) => served.markets.statusesAt(unixS),
    digest: keccak256Into,
    ...createFrameSigner(() => served.identity.streamKey!, pool),
    publish(topic, frame, sequence) {
      fanOut.publish(topic, frame, sequence);
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
  const prices = new ServedPrices({ table, stream, aggregates });

  function routes() {
    const { catalogue, markets, config: now } = served;
    return createRoutes({
      clock,
      simulation: options.simulation,
      listed: catalogue.listed,
      symbols: [...new Set(catalogue.listed.map(({ symbol }) => symbol))],
      findAsset: (symbol, signatureType) => catalogue.findAsset(symbol, signatureType),
      prices: {
        latest: (asset) => prices.latest(asset),
        latestVersion: () => prices.latestVersion,
        recent: (asset, second) => store.recent(asset, second),
      },
      readCandles: (asset, resolution, fromS, toS) =>
        store.history(asset, resolution, fromS, toS, limits.candlesPerRequest),
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
      deployments: now.deployments,
      pushedAssets: now.pushedAssets,
      publisherByKey: (type, key) => catalogue.publisherByKey(type, key),
      publicUrl: () => publicUrlOf(config, server.port),
      tickets,
      onPublisherMetadata: (about) => logger.info(about, 'publisher metadata'),
    });
  }

  const server = createServer(options.webSockets, {
    config,
    at: options.at,
    access: options.access,
    tickets,
    thread: options.place.thread,
    routes: routes(),
    clock,
    fanOut,
    stream,
    signsPayloads: () => served.identity.streamKey !== undefined,
    aggregates,
    findPublisher: (type, key) => served.catalogue.publisherByKey(type, key),
    isLoginSigned: (claim) => isLoginSigned(claim, pool.here),
    receiver: options.receiver,
    counters,
    logger,
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
    // The store that it reads follows commits by itself.
    committing() {},
    committed() {},
    reload(nextConfig, identity) {
      served = derive(nextConfig, identity);
      const { catalogue } = served;
      table.resize(catalogue.streamingIds);
      // Tokens change before the streams look at what each connection may still see.
      server.reload(nextConfig.tokens, routes());
      stream.reload(catalogue);
      aggregates.reload();
    },
    setNodes(next) {
      nodes = next;
    },
    tick(nowNs) {
      stream.tick(nowNs);
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
    setAccepting: (accepting) => server.setAccepting(accepting),
    handOver: () => server.handOver(),
    drain: () => server.drain(),
    close: () => server.close(),
  };
}
