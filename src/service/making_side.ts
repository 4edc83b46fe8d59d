import { Ticker } from '../clock/ticker.js';
import type { OpenLog } from '../cluster/node/public_log.js';
import type { StreamLog } from '../cluster/node/stream_log.js';
import { listLogs } from '../cluster/node/stream_log_list.js';
import { usesStark } from '../config/stark_use.js';
import { type CryptoPool, openCryptoPool } from '../crypto/pool/pool.js';
import { secp256k1, systemSecp256k1 } from '../crypto/secp256k1/secp256k1.js';
import { FeedSource } from '../log/feed/feed_source.js';
import type { HourWriter } from '../log/past/hour_writer.js';
import type { CommitCompanion } from '../log/store/commit_companion.js';
import { openStore, type Store } from '../log/store/store.js';
import { StreamingIds } from '../log/store/streaming_ids.js';
import type { SignatureType } from '../model/asset.js';
import type { AssetName } from '../model/asset_map.js';
import { createCounters } from '../model/counters.js';
import { inForceAt } from '../model/key_schedule.js';
import type { NodeList } from '../model/node_list.js';
import type { Clock } from '../model/time.js';
import type { ReadMessage } from '../prices/message.js';
import type { PublisherSession, PublishOutcome, PublishReceiver } from '../prices/publisher_session.js';
import { fileHandleProblem } from '../server/uws/file_handles.js';
import type { EdgeSet } from './edge/edge_set.js';
import { keepIds } from './known_ids.js';
import { StallCounter } from './metrics/stall_counter.js';
import { openPriceMaker } from './open_price_maker.js';
import { openPublicLog, openStreamLog } from './open_public_log.js';
import { openPast } from './opened_past.js';
import type { PriceMaker } from './price_maker.js';
import { logSecp256k1 } from './secp256k1_log.js';
import type { Prepared, ServiceOptions } from './service_options.js';
import { deriveSettings, type Settings, storeOptions } from './settings.js';

const HANDED_OVER = 'another process takes over: connect again when this connection closes';

interface MakingSideParts {
  readonly past: HourWriter;
  readonly publicLog: OpenLog | undefined;
  readonly streamLog: StreamLog | undefined;
  readonly ids: StreamingIds;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly pool: CryptoPool;
  readonly store: Store;
  readonly source: FeedSource;
}

/**
 * The delay of work that a start leaves for later: reading the logs of the last process and loading the pool of a cluster's node, unless a
 * price needs them earlier, and the housekeeping of the store. Meanwhile, readers reconnect.
 */
export const LATER_MS = 1_000;

/** Opens all parts of a service except its sockets. @throws Error whose message is one sentence */
export async function openMakingSide(prepared: Prepared, options: ServiceOptions): Promise<MakingSide> {
  const { port, threads, loaded } = prepared;
  const { config, clock, logger, takeOver = false } = options;
  logSecp256k1(logger, secp256k1, systemSecp256k1());
  const handleProblem = fileHandleProblem(threads.listen + threads.crypto);
  if (handleProblem !== undefined) throw new Error(handleProblem);
  const pool = openCryptoPool({ threads: options.cryptoThreads ?? threads.crypto });
  // A node of a cluster has much to verify only when it leads, so the node loads the pool after its start.
  if (config.cluster === undefined) await pool.load();
  let publicLog: OpenLog | undefined;
  let streamLog: StreamLog | undefined;
  let store: Store | undefined;
  let past: HourWriter | undefined;
  let making: MakingSide | undefined;
  try {
    await Promise.all(loaded.map((thread) => thread.loaded));
    const settings = deriveSettings(config, options.keys, pool);
    if (usesStark(config)) await pool.warmStark();
    const { dir, reserveBytes } = config.storage;
    const { assets, candleRetentionMs } = storeOptions(settings);
    store = await openStore({
      assets,
      candleRetentionMs,
      dir,
      reserveBytes,
      clock,
      laterMs: LATER_MS,
      takeOver,
      logger,
      companion: companionOf(() => [publicLog, streamLog]),
      async openFollower() {
        const isConfigured = (asset: AssetName) =>
          (making?.settings ?? settings).catalogue.placedAsset(asset) !== undefined;
        past = await openPast(config, isConfigured, clock, logger);
        return past;
      },
    });
    // Another process may have added IDs until it handed the folder over.
    const ids = StreamingIds.read(dir);
    keepIds(ids, config);
    publicLog = await openPublicLog({ config, seed: options.keys.log, marks: store.marks, logger });
    // A killed process may have served aggregates that are not on disk. A cluster's log still has them.
    if (!store.isClean && config.cluster === undefined) store.lost();
    port.check(store.isHandedOver);
    const epoch = await store.marks.countStart();
    const source = new FeedSource(epoch);
    const seed = options.keys.streamLog;
    streamLog = await openStreamLog({ config, seed, marks: store.marks, logger, clock, epoch });
    making = new MakingSide({ ids, settings, clock, pool, store, past: past!, publicLog, streamLog, source });
    await making.open(options);
    return making;
  } catch (error) {
    // The caller needs the error of the start, not an error of closing.
    await Promise.allSettled([pool.close(), store?.close()]);
    throw error;
  }
}

/** Combines the writers of files that take part in each commit of the store. */
function companionOf(logs: () => readonly [OpenLog | undefined, StreamLog | undefined]): CommitCompanion {
  return {
    write: async () => logs()[0]?.write(),
    committed() {},
    async close() {
      for (const log of logs()) await log?.close();
    },
  };
}

/** The half of a service that makes and records prices, and reports them to the feed. It also has the parts that both halves use. */
export class MakingSide implements PublishReceiver {
  readonly #clock: Clock;
  readonly pool: CryptoPool;
  readonly store: Store;
  readonly past: HourWriter;
  readonly publicLog: OpenLog | undefined;
  readonly streamLog: StreamLog | undefined;
  readonly ids: StreamingIds;
  readonly source: FeedSource;
  readonly ticker: Ticker;
  readonly counters = createCounters();
  readonly askedToHandOver: Promise<void>;
  /** The current settings. */
  settings: Settings;
  #maker: PriceMaker | undefined;
  #edges: EdgeSet | undefined;
  #isHandedOver = false;
  #ended: Promise<void> | undefined;

  constructor({ ids, settings, clock, pool, store, past, publicLog, streamLog, source }: MakingSideParts) {
    this.ids = ids;
    this.settings = settings;
    this.#clock = clock;
    this.pool = pool;
    this.store = store;
    this.past = past;
    this.publicLog = publicLog;
    this.streamLog = streamLog;
    this.source = source;
    this.ticker = new Ticker(clock);
    this.askedToHandOver = new Promise((resolve) => store.onTakeOver(resolve));
    void this.askedToHandOver.then(() => {
      this.#isHandedOver = true;
    });
  }

  /** Opens the maker of prices, which reports to the feed from then on. */
  async open({ natsCredentials, logger }: ServiceOptions): Promise<void> {
    const { settings, counters, pool, store, past, publicLog, streamLog, source, onDue } = this;
    this.#maker = await openPriceMaker({
      natsCredentials,
      settings,
      ids: this.ids,
      parts: {
        clock: this.#clock,
        counters,
        pool,
        store,
        past,
        publicLog,
        streamLog,
        source,
        logger,
      },
      hooks: {
        onDue,
        onApplied: (receivedNs) => this.#edges?.applied(receivedNs),
        onNodes: () => this.tellNodes(),
        onStoreChanged: () => this.#edges?.tell({ do: 'storeChanged' }),
      },
    });
  }

  /** The maker of the prices; exists after {@link open}. */
  get maker(): PriceMaker {
    return this.#maker!;
  }

  /** Returns the nodes, their keys and their logs, as the edges show them. */
  nodes(): NodeList {
    const nodes = this.maker.nodes();
    const streamLog = this.streamLog?.facts;
    return { ...nodes, streamLog, streamLogs: listLogs(nodes, streamLog) };
  }

  tellNodes(): void {
    this.#edges?.tell({ do: 'setNodes', nodes: this.nodes() });
  }

  /** True after another process has requested the data folder. From then on, messages from publishers are refused. */
  get isHandedOver(): boolean {
    return this.#isHandedOver;
  }

  /** Returns the public key that currently signs aggregates; `undefined` without a key. */
  publicKeyNow(type: SignatureType): string | undefined {
    const keys = this.settings.signer?.publicKeys[type] ?? [];
    return keys.length === 0 ? undefined : inForceAt(keys, this.#clock.nowNs()).text;
  }

  /** Requests a tick no later than this time. */
  readonly onDue = (timeNs: bigint): void => this.ticker.noLaterThan(timeNs);

  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    if (this.#isHandedOver) return { ok: false, traceId: message.traceId, error: HANDED_OVER };
    this.ticker.runIfDue();
    return this.maker.receive(session, message);
  }

  closed(session: PublisherSession): void {
    this.maker.closed?.(session);
  }

  /** Begins to make prices for these edges. */
  serveBy(edges: EdgeSet): void {
    this.#edges = edges;
    const { streamLog } = this;
    this.ticker.start([
      new StallCounter(this.counters),
      this.maker,
      edges,
      this.past,
      ...(streamLog === undefined ? [] : [streamLog]),
    ]);
    this.maker.start();
  }

  /** Ends all parts except the edges. Later calls return the same promise. @throws Error when the last commit failed */
  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #end(): Promise<void> {
    await this.ticker.stop();
    await this.pool.close();
    await this.maker.close();
    await this.store.close();
  }
}
