import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { secondsOf } from '../clock/clock_watch.js';
import { type Config, changedFixedSections, withFixedSections } from '../config/config.js';
import type { PrivateKeys } from '../config/private_keys.js';
import { usesStark } from '../config/stark_use.js';
import type { SignatureType } from '../model/asset.js';
import { certificateEndSeconds } from '../server/uws/certificate_end.js';
import { UWS_SHA256_VARIABLE } from '../server/uws/machine.js';
import type { EdgeSet } from './edge/edge_set.js';
import { type OpenEdgesOptions, openEdges } from './edge/open_edges.js';
import { loadThread } from './edge/threads/loaded_thread.js';
import { keepIds } from './known_ids.js';
import { LATER_MS, type MakingSide, openMakingSide } from './making_side.js';
import { Reloads } from './metrics/reloads.js';
import { logKeyChange } from './open_public_log.js';
import { type OperatorSide, type OperatorSideOptions, openOperatorSide } from './operator_side.js';
import type { Prepared, ServiceOptions } from './service_options.js';
import {
  deriveSettings,
  identityOf,
  requireKeys,
  type Settings,
  storeOptions,
  switchedLogs,
  withSameLogs,
} from './settings.js';
import { SOLO_NODE } from './solo.js';

export interface Service {
  readonly port: number;
  readonly adminPort: number;
  /** The EVM address that currently signs aggregates; absent on an edge of a cluster. */
  readonly evmAddress: string | undefined;
  /** Returns the public key that currently signs the aggregates of a signature type. */
  signerOf(type: SignatureType): string | undefined;
  /** Returns the number of configured assets without a live price. */
  staleAssets(): number;
  /**
   * Applies a changed configuration. Closes only the connections that have lost their rights.
   * @returns the changed sections that take effect only at the next start
   * @throws Error when the store has a damaged record of an asset that the configuration adds again, or when the policy of a public log
   * lacks the key that signs it; nothing has then changed
   * @throws ChangedIdsError when the configuration gives a streaming ID another meaning; nothing has then changed
   */
  reload(config: Config, keys: PrivateKeys): readonly string[];
  /**
   * Resolves when another service requests the data folder. {@link stop} then hands the folder over first, and closes connections when the
   * other service serves.
   */
  readonly askedToHandOver: Promise<void>;
  /** Records the verdict on a reload, for the metrics and for `tickseal reload`. */
  noteReload(isOk: boolean, messages: readonly string[]): void;
  /**
   * Closes all connections with code 1001, writes the waiting data and frees the ports. Only the first call has an effect.
   * @throws Error when the last commit failed; the ports are free in this case too
   */
  stop(): Promise<void>;
  /**
   * Closes every connection and ends the threads, for a process that must exit after a fault. Writes nothing more; updates with a durable
   * acknowledgement are already on disk.
   */
  abandon(): Promise<void>;
}

/** The longest time for which the service keeps the folder while it finishes verifying updates. */
const VERDICTS_MS_MAX = 1_000;

/**
 * Connects the parts of the service. The making side makes prices and reports them to the feed, which sends them to the edges. Each part is
 * opened after all parts that it reads.
 */
export async function openService(prepared: Prepared, options: ServiceOptions): Promise<Service> {
  const making = await openMakingSide(prepared, options);
  const edges = await openEdges(edgesOptionsOf(making, prepared, options)).catch(async (error: unknown) => {
    await making.end();
    throw error;
  });
  making.serveBy(edges);
  const reloads = new Reloads(
    () => secondsOf(options.clock.nowNs()),
    () => certificateEndSeconds(options.config.listen.tls),
  );
  const opening = openOperatorSide(operatorOptionsOf(making, edges, reloads, prepared, options));
  const operatorSide = await opening.catch(async (error: unknown) => {
    await edges.close();
    await making.end();
    throw error;
  });
  making.store.tellServing();
  setTimeout(() => void making.pool.load(), LATER_MS).unref();
  return new RunningService(making, edges, operatorSide, reloads, options.logger);
}

function edgesOptionsOf(
  making: MakingSide,
  { webSockets, port, loaded }: Prepared,
  { config, clock, logger, env, simulation = false }: ServiceOptions,
): OpenEdgesOptions {
  const { store, source, pool, counters, streamLog } = making;
  return {
    settings: { config, identity: identityOf(making.settings), nodes: making.nodes() },
    catalogueOf: () => making.settings.catalogue,
    at: port.at,
    node: config.cluster?.node ?? SOLO_NODE,
    simulation,
    threads: { loaded, loadThread: () => loadThread(env[UWS_SHA256_VARIABLE], usesStark(config)) },
    parts: { webSockets, clock, pool, counters, store, source },
    hooks: {
      receiver: making,
      askPast: making.maker.pastExchange?.ask,
      onSigned: streamLog && ((hashes) => streamLog.add(hashes)),
      onPastDamage: (reason) => making.past.notice(reason),
      onDue: making.onDue,
      logger,
    },
  };
}

function operatorOptionsOf(
  making: MakingSide,
  edges: EdgeSet,
  reloads: Reloads,
  { webSockets, threads }: Prepared,
  { config, clock, logger, version = 'unknown', commit = 'unknown' }: ServiceOptions,
): OperatorSideOptions {
  const { store, past, source, pool, counters, ticker, maker, streamLog } = making;
  return {
    listen: { webSockets, at: config.admin, sharesPort: store.isHandedOver },
    parts: { edges, pool, maker, streamLog, source, store, past, clock, ticker, counters, reloads },
    settings: () => making.settings,
    edgesExpected: threads.listen,
    program: { version, commit },
    logger,
  };
}

class RunningService implements Service {
  readonly #making: MakingSide;
  readonly #edges: EdgeSet;
  readonly #operatorSide: OperatorSide;
  readonly #reloads: Reloads;
  readonly #logger: Logger;
  #stopped: Promise<void> | undefined;

  constructor(
    making: MakingSide,
    edges: EdgeSet,
    operatorSide: OperatorSide,
    reloads: Reloads,
    logger: Logger,
  ) {
    this.#making = making;
    this.#edges = edges;
    this.#operatorSide = operatorSide;
    this.#reloads = reloads;
    this.#logger = logger;
  }

  get port(): number {
    return this.#edges.port;
  }

  get adminPort(): number {
    return this.#operatorSide.port;
  }

  get evmAddress(): string | undefined {
    return this.signerOf('evm');
  }

  signerOf(type: SignatureType): string | undefined {
    return this.#making.publicKeyNow(type);
  }

  get askedToHandOver(): Promise<void> {
    return this.#making.askedToHandOver;
  }

  staleAssets(): number {
    const { settings, source } = this.#making;
    return settings.catalogue.listed.filter((asset) => !source.isLive(asset)).length;
  }

  reload(nextConfig: Config, nextKeys: PrivateKeys): readonly string[] {
    const { settings, pool } = this.#making;
    const sections = [
      ...changedFixedSections(settings.config, nextConfig),
      ...switchedLogs(settings.keys, nextKeys),
    ];
    if (sections.length > 0) this.#logger.warn({ sections }, 'these sections take effect at the next start');
    const config = withFixedSections(settings.config, nextConfig);
    const keys = withSameLogs(settings.keys, nextKeys);
    this.#reloads.run(() => {
      requireKeys(settings, keys, config);
      const changeLogKeys = logKeyChange(this.#making, config, keys, this.#logger);
      keepIds(this.#making.ids, config);
      this.#apply(deriveSettings(config, keys, pool, settings.catalogue));
      changeLogKeys();
      this.#making.tellNodes();
    });
    return sections;
  }

  noteReload(isOk: boolean, messages: readonly string[]): void {
    this.#reloads.decided(isOk, messages);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async abandon(): Promise<void> {
    const { ticker, pool } = this.#making;
    this.#operatorSide.close();
    await Promise.all([this.#edges.close(), ticker.stop(), pool.close()]);
  }

  /** Applies a reload. The order matters, because each part reads parts that must already have changed. */
  #apply(next: Settings): void {
    const { store, maker } = this.#making;
    // Only the next step can fail, because of a damaged record of an asset that the configuration adds again. Nothing has changed before
    // this step.
    store.reconfigure(storeOptions(next));
    this.#making.settings = next;
    if (usesStark(next.config)) void this.#making.pool.warmStark();
    // The edges must know a new asset before the asset has a price.
    this.#edges.tell({ do: 'reload', config: next.config, identity: identityOf(next) });
    maker.reload(next);
    this.#making.tellNodes();
  }

  async #stop(): Promise<void> {
    this.#operatorSide.stopping();
    try {
      await this.#making.maker.leave();
      if (this.#making.isHandedOver) await this.#handOver();
      await this.#edges.drain();
      await this.#making.end();
    } finally {
      // An open port would keep the process alive, so these parts are closed even after a failed commit.
      this.#operatorSide.close();
      await this.#edges.close();
    }
  }

  /**
   * Hands over the data folder. The next process writes to the folder after `store.handOver`, and serves when this method ends.
   * Afterwards this process only closes its connections.
   */
  async #handOver(): Promise<void> {
    const { ticker, maker, store, streamLog } = this.#making;
    this.#edges.tell({ do: 'handOver' });
    void ticker.stop();
    // The threads send the hashes of their last payloads before their reports.
    if (streamLog !== undefined) await this.#edges.report();
    // Updates whose signatures are being verified are still accepted.
    const endMs = performance.now() + VERDICTS_MS_MAX;
    do await endOfTurn();
    while (maker.updatesWaiting > 0 && performance.now() < endMs);
    await maker.close();
    // The next process waits for this step. `end` reports a failed disk.
    await store.handOver().catch(() => this.#making.end());
    await store.successorServes();
    this.#operatorSide.close();
  }
}
