import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { PublishReceiver } from '../aggregator/publisher_session.js';
import { secondsOf } from '../clock/clock_watch.js';
import { Ticker } from '../clock/ticker.js';
import { type Config, changedFixedSections, withFixedSections } from '../config/config.js';
import type { PrivateKeys } from '../config/private_keys.js';
import { createCryptoPool } from '../crypto/pool/pool.js';
import { secp256k1, systemSecp256k1 } from '../crypto/secp256k1/secp256k1.js';
import type { EdgeSet } from '../edge/edge_set.js';
import { openEdges } from '../edge/open_edges.js';
import { type LoadedThread, loadThread } from '../edge/threads/loaded_thread.js';
import { FeedSource } from '../feed/feed_source.js';
import { createCounters } from '../metrics/counters.js';
import { Reloads } from '../metrics/reloads.js';
import type { Clock } from '../model/time.js';
import { certificateEndSeconds } from '../server/uws/certificate_end.js';
import type { StartingPort } from '../server/uws/early_listener.js';
import { fileHandleProblem } from '../server/uws/file_handles.js';
import { UWS_SHA256_VARIABLE } from '../server/uws/machine.js';
import type { WebSocketLibrary } from '../server/uws/native.js';
import { openStore, type StoreOptions } from '../store/store.js';
import { openPriceMaker } from './open_price_maker.js';
import { openOperatorSide } from './operator_side.js';
import { logSecp256k1 } from './secp256k1_log.js';
import { derive, identityOf, requireKeys, type Settings, storeOptions } from './settings.js';
import { SOLO_NODE } from './solo.js';

export interface ServiceOptions {
  readonly config: Config;
  readonly keys: PrivateKeys;
  /** The text of `cluster.credentials`. */
  readonly natsCredentials?: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The prices are simulated: shown wherever assets are listed. */
  readonly simulation?: boolean;
  /** Asks a service that has the data folder and the ports to hand them over. */
  readonly takeOver?: boolean;
  /** Of the program, for the metrics. */
  readonly version?: string;
  /** Threads that verify and sign; as many as the cores leave, unless given. With 0 the main thread does it all. */
  readonly cryptoThreads?: number;
  /** Called while the start checks a large data folder. */
  readonly onProgress?: StoreOptions['onProgress'];
}

export interface Service {
  readonly port: number;
  readonly adminPort: number;
  /** The EVM address that signs aggregates; none on an edge of a cluster. */
  readonly evmAddress: string | undefined;
  /** The x coordinate of the key that signs Stark aggregates. */
  readonly starkPublicKey: string | undefined;
  /** Assets of the configuration that have no live price now. */
  staleAssets(): number;
  /**
   * Puts a changed configuration in force without closing anything that need not.
   * @throws Error when the store holds a damaged record of an asset that comes back; then nothing has changed.
   */
  reload(config: Config, keys: PrivateKeys): void;
  /** Resolves when another service asks for the data folder: {@link stop} then hands over first, and closes connections when that one serves. */
  readonly askedToHandOver: Promise<void>;
  /** A file was to be reloaded and is not valid: the metrics say so. */
  noteInvalidReload(): void;
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

const HANDED_OVER = 'another process takes over: connect again when this connection closes';

/** How long the folder is kept for updates whose signatures are being verified. */
const VERDICTS_MS_MAX = 1_000;

/** What a start has before it asks another service to hand over. */
export interface Prepared {
  readonly port: StartingPort;
  readonly webSockets: WebSocketLibrary;
  readonly threads: { readonly listen: number; readonly crypto: number };
  /** The threads of the edges, where they have some. */
  readonly loaded: readonly LoadedThread[];
}

/**
 * Puts the service together: the aggregator makes prices and tells them to the feed, which records them and brings them to the
 * edges. Whatever another part needs is made before it.
 */
export async function openService(prepared: Prepared, options: ServiceOptions): Promise<Service> {
  const { port, webSockets, threads, loaded } = prepared;
  const { config, clock, logger, simulation = false, takeOver = false, onProgress } = options;
  logSecp256k1(logger, secp256k1, systemSecp256k1);
  const handleProblem = fileHandleProblem(threads.listen + threads.crypto);
  if (handleProblem !== undefined) throw new Error(handleProblem);
  const pool = await createCryptoPool({ threads: options.cryptoThreads ?? threads.crypto });
  await Promise.all(loaded.map((thread) => thread.loaded));
  let settings = derive(config, options.keys, pool);

  const counters = createCounters();
  const store = await openStore({
    ...storeOptions(settings),
    dir: config.storage.dir,
    clock,
    takeOver,
    onProgress,
  });
  port.check(store.isHandedOver);
  const ticker = new Ticker(clock);
  const onDue = (timeNs: bigint) => ticker.noLaterThan(timeNs);
  let edges: EdgeSet | undefined;
  const source = new FeedSource(await store.marks.countStart());
  const maker = await openPriceMaker({
    natsCredentials: options.natsCredentials,
    settings,
    parts: { clock, counters, pool, store, source, logger },
    hooks: {
      onDue,
      onApplied: (receivedNs) => edges?.applied(receivedNs),
      onNodes: (nodes) => edges?.setNodes(nodes),
      onStoreChanged: () => edges?.storeChanged(),
    },
  });

  const receiver: PublishReceiver = {
    receive(session, message) {
      if (isHandedOver) return { ok: false, traceId: message.traceId, error: HANDED_OVER };
      ticker.runIfDue();
      return maker.receive(session, message);
    },
    closed: (session) => maker.closed?.(session),
  };
  const reloads = new Reloads(
    () => secondsOf(clock.nowNs()),
    () => certificateEndSeconds(config.listen.tls),
  );
  let isHandedOver = false;
  const askedToHandOver = new Promise<void>((resolve) => store.onTakeOver(resolve));
  void askedToHandOver.then(() => {
    isHandedOver = true;
  });
  edges = await openEdges({
    webSockets,
    at: port.at,
    loaded,
    loadThread: () => loadThread(options.env[UWS_SHA256_VARIABLE]),
    node: config.cluster?.node ?? SOLO_NODE,
    config,
    catalogueOf: () => settings.catalogue,
    identity: identityOf(settings),
    nodes: maker.nodes(),
    simulation,
    clock,
    onDue,
    store,
    source,
    pool,
    receiver,
    counters,
    logger,
  }).catch(async (error: unknown) => {
    await endAll();
    throw error;
  });
  const opened = edges;
  ticker.start([maker, edges]);
  maker.start();
  const operatorSide = await openOperatorSide({
    webSockets,
    config,
    logger,
    sharesPort: store.isHandedOver,
    edgesExpected: threads.listen,
    edges: opened,
    pool,
    maker,
    source,
    store,
    clock,
    ticker,
    counters,
    reloads,
    version: options.version ?? 'unknown',
    catalogue: () => settings.catalogue,
    configSha256: () => settings.config.fileSha256,
  }).catch(async (error: unknown) => {
    await opened.close();
    await endAll();
    throw error;
  });

  /** Puts a reload in force. The order matters: each part finds what it reads changed already. */
  function apply(next: Settings): void {
    // The only step that can fail, on a damaged record of an asset that comes back: nothing has changed before it.
    store.reconfigure(storeOptions(next));
    settings = next;
    // The edges know a new asset before anybody can price it.
    opened.reload(next.config, identityOf(next));
    maker.reload(next);
    opened.setNodes(maker.nodes());
  }

  let ended: Promise<void> | undefined;

  /** Ends what is there without edges, once. */
  function endAll(): Promise<void> {
    ended ??= (async () => {
      await ticker.stop();
      await pool.close();
      await maker.close();
      await store.close();
    })();
    return ended;
  }

  /** The next process writes from the middle of this on, and serves at its end. What is left is to close the connections, in their time. */
  async function handOver(): Promise<void> {
    opened.handOver();
    void ticker.stop();
    // What is being verified is accepted still.
    const endMs = performance.now() + VERDICTS_MS_MAX;
    do await endOfTurn();
    while (maker.updatesWaiting > 0 && performance.now() < endMs);
    await maker.close();
    // The next process waits for this. A disk that fails is told by `endAll`.
    await store.handOver().catch(endAll);
    await store.successorServes();
    operatorSide.close();
  }

  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    operatorSide.stopping();
    try {
      await maker.leave();
      if (isHandedOver) await handOver();
      await opened.drain();
      await endAll();
    } finally {
      // An open port would keep a process alive whose last commit failed.
      operatorSide.close();
      await opened.close();
    }
  }

  store.tellServing();
  return {
    port: opened.port,
    adminPort: operatorSide.port,
    evmAddress: settings.signer?.evmAddress,
    starkPublicKey: settings.signer?.starkPublicKey,
    staleAssets: () => settings.catalogue.listed.filter((asset) => !source.isLive(asset)).length,
    reload(nextConfig, keys) {
      const sections = changedFixedSections(settings.config, nextConfig);
      if (sections.length > 0) logger.warn({ sections }, 'these sections take effect at the next start');
      const config = withFixedSections(settings.config, nextConfig);
      reloads.run(() => {
        requireKeys(settings, keys, config);
        apply(derive(config, keys, pool, settings.catalogue));
      });
    },
    noteInvalidReload: () => reloads.failed(),
    stop: () => (stopped ??= stop()),
    askedToHandOver,
    async abandon() {
      operatorSide.close();
      await Promise.all([opened.close(), ticker.stop(), pool.close()]);
    },
  };
}
