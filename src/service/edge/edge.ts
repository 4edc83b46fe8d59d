import { ClockWatch, secondsOf, streamTroubles } from '../../clock/clock_watch.js';
import { type Marks, openStreamTimes, type SignerPlace } from '../../clock/signed_times.js';
import type { StreamTimes } from '../../clock/stream_times.js';
import type { Config } from '../../config/config.js';
import { publicUrlOf } from '../../config/public_url.js';
import { encodedAssetId } from '../../crypto/evm.js';
import type { About, Feed, FeedPosition, Recorded, Snapshot } from '../../log/feed/feed.js';
import type { StoreReader } from '../../log/store/reader.js';
import type { Simulated } from '../../model/asset.js';
import type { Catalogue } from '../../model/catalogue.js';
import type { Counters } from '../../model/counters.js';
import type { Priced } from '../../model/price_sink.js';
import type { Clock, TimeNs } from '../../model/time.js';
import { isLoginSigned } from '../../server/access/login_verifier.js';
import type { SharedAccess } from '../../server/access/shared_access.js';
import { TicketIssuer } from '../../server/access/ticket_issuer.js';
import type { Route } from '../../server/rest/route.js';
import { createServer, type Server } from '../../server/server.js';
import type { ListenOptions } from '../../server/uws/app.js';
import type { WebSocketLibrary } from '../../server/uws/native.js';
import type { ServingReport } from '../metrics/metrics.js';
import type { EdgeCommand, EdgeSettings } from './edge_command.js';
import type { EdgeHooks } from './edge_hooks.js';
import { edgeRoutes } from './edge_routes.js';
import { type EdgePool, EdgeStreams } from './edge_streams.js';
import { type EdgePast, readPast } from './read_past.js';
import { ServedSettings } from './served_settings.js';
import { SignedStatements } from './signed_statements.js';

/** The options that all edges of a process share. */
export interface SharedEdgeOptions {
  /** The settings at the start. Commands change them later. */
  readonly settings: EdgeSettings;
  /** Returns the catalogue of a configuration that the edge applies. The feed identifies assets by the indexes of this catalogue. */
  readonly catalogueOf: (config: Config) => Catalogue;
  /** The facts about simulated prices. Every list of assets shows these facts. */
  readonly simulation: Simulated;
  readonly hooks: EdgeHooks;
}

export interface EdgeOptions extends SharedEdgeOptions {
  /** The address on which the edge listens. The caller has already claimed a port other than 0. */
  readonly at: ListenOptions;
  /**
   * The numbers of the node and the thread for the edge's signatures. No two edges that sign streaming payloads have the same numbers.
   */
  readonly place: SignerPlace;
  readonly parts: EdgeParts;
}

/** The parts of the process that an edge uses. */
export interface EdgeParts extends ThreadParts {
  /** The counters and numbers that all edges of the process share. */
  readonly access: SharedAccess;
  readonly marks: Marks;
  readonly store: StoreReader;
}

/** The parts of a thread that its edge uses. */
export interface ThreadParts {
  readonly webSockets: WebSocketLibrary;
  readonly clock: Clock;
  readonly pool: EdgePool;
  readonly counters: Counters;
}

/** Opens an edge. Resolves when the marks of the stream times are on disk, or when the write of a mark has failed. */
export async function openEdge(options: EdgeOptions): Promise<Edge> {
  const { settings, catalogueOf, place } = options;
  const { clock, marks } = options.parts;
  const served = new ServedSettings({ settings, catalogueOf, clock });
  const times = await openStreamTimes(clock, marks, place);
  return new Edge(options, served, times);
}

/** A complete server on one thread, for all readers and publishers. The thread that makes prices sends them to this server. */
export class Edge implements Feed {
  readonly #options: EdgeOptions;
  readonly #served: ServedSettings;
  readonly #times: StreamTimes;
  readonly #clockWatch: ClockWatch;
  readonly #tickets: TicketIssuer;
  readonly #statements: SignedStatements;
  readonly #past: EdgePast;
  readonly #streams: EdgeStreams;
  readonly #routes: () => ReadonlyMap<string, Route>;
  readonly #server: Server;

  constructor(options: EdgeOptions, served: ServedSettings, times: StreamTimes) {
    const { access, clock, store, pool, counters } = options.parts;
    const { hooks, simulation } = options;
    const { config } = options.settings;
    const { logger } = hooks;
    const encodedAssetIdOf = (symbol: string) => encodedAssetId(symbol, config.service.encodedAssetId);
    this.#options = options;
    this.#served = served;
    this.#times = times;
    this.#clockWatch = new ClockWatch({ clock, troubles: streamTroubles(times), logger });
    this.#tickets = new TicketIssuer(access.tickets, clock);
    this.#statements = new SignedStatements({
      taxonomyId: config.service.taxonomyId,
      keys: () => served.identity.streamKeys,
      clock,
      signOne: (digest, key) => pool.here.signOneEvm(digest, key),
    });
    this.#past = readPast({
      config,
      signed: () => served,
      here: pool.here,
      ask: hooks.askPast,
      hooks,
      logger,
    });
    this.#streams = new EdgeStreams({ served, times, clock, pool, counters, hooks });
    this.#routes = () =>
      edgeRoutes({
        config,
        served,
        prices: this.#streams.prices,
        store,
        past: this.#past,
        tickets: this.#tickets,
        statements: this.#statements,
        simulation,
        encodedAssetId: encodedAssetIdOf,
        publicUrl: () => publicUrlOf(config, this.port),
        clock,
        logger,
      });
    this.#server = this.#openServer();
  }

  #openServer(): Server {
    const { settings, at, place, hooks } = this.#options;
    const { webSockets, access, clock, pool, counters } = this.#options.parts;
    const { fanOut, stream, aggregates } = this.#streams;
    const served = this.#served;
    return createServer(webSockets, {
      config: settings.config,
      at,
      clock,
      counters,
      logger: hooks.logger,
      onWork: hooks.onWork,
      access: {
        shared: access,
        thread: place.thread,
        tickets: this.#tickets,
        findPublisher: (type, key) => served.catalogue.publisherByKey(type, key),
        isLoginSigned: (claim) => isLoginSigned(claim, pool.here),
      },
      rest: {
        routes: this.#routes(),
        logFiles: this.#past.logFiles,
        streamLogFiles: this.#past.streamLogFiles,
      },
      streams: {
        fanOut,
        stream,
        idOf: (symbol) => served.catalogue.findAsset(symbol)?.id,
        signsPayloads: () => served.identity.streamKeys.length > 0,
        aggregates,
        receiver: hooks.receiver,
      },
    });
  }

  /**
   * Resolves when the edge serves.
   * @throws Error when the address is in use or TLS cannot start
   */
  listen(): Promise<void> {
    return this.#server.listen();
  }

  /** The port; valid after {@link listen} resolved. */
  get port(): number {
    return this.#server.port;
  }

  begin(snapshot: Snapshot): void {
    this.#streams.prices.begin(snapshot);
  }

  priced(message: FeedPosition & Priced): void {
    this.#streams.prices.priced(message);
  }

  recorded(message: FeedPosition & Recorded): void {
    this.#streams.prices.recorded(message);
  }

  withdrawn(message: FeedPosition & About): void {
    this.#streams.prices.withdrawn(message);
  }

  ended(message: FeedPosition & About): void {
    this.#streams.prices.ended(message);
  }

  applied(receivedNs: TimeNs): void {
    this.#streams.applied(receivedNs);
  }

  do(command: EdgeCommand): void {
    switch (command.do) {
      case 'reload':
        this.#served.reload(command.config, command.identity);
        this.#statements.clear();
        // Tokens change before the streams, because the streams check which assets each connection may still see.
        this.#server.reload(command.config.tokens, this.#routes());
        this.#streams.reload();
        break;
      case 'setNodes':
        this.#served.nodes = command.nodes;
        break;
      case 'setAccepting':
        this.#server.setAccepting(command.accepting);
        break;
      case 'handOver':
        this.#server.handOver();
        this.#streams.flushHashes();
        break;
      case 'storeChanged':
      // This edge reads the changed store directly, so the command needs no action.
    }
  }

  /** Ticks the parts of the edge. */
  tick(nowNs: TimeNs): void {
    this.#streams.tick(nowNs);
    this.#clockWatch.tick(nowNs);
  }

  /** Returns the time of the next tick that the edge needs; `undefined` when a regular tick is early enough. */
  nextDueNs(nowNs: TimeNs): bigint | undefined {
    return this.#streams.stream.nextDueNs(nowNs);
  }

  report(): ServingReport {
    const { sockets } = this.#server;
    return {
      connections: sockets.size,
      streamConnections: sockets.streams,
      streamGroups: this.#streams.groupCount,
      streamsAheadSeconds: secondsOf(this.#times.aheadNs),
    };
  }

  /** Returns the problems with the times that the edge signs. */
  troubles(): readonly string[] {
    return this.#clockWatch.reasons();
  }

  /** Refuses new connections, and closes the sockets with 1001. Resolves when the close frames are sent. */
  drain(): Promise<void> {
    return this.#server.drain().finally(() => this.#streams.flushHashes());
  }

  /** Closes all connections and the port immediately. */
  async close(): Promise<void> {
    await this.#server.close();
    await this.#past.past.close();
  }
}
