import { hostname } from 'node:os';
import { openBus } from '../cluster/open_bus.js';
import { DEFAULT_TIMING } from '../cluster/timing.js';
import { clusterConfigHash } from '../config/cluster_hash.js';
import { NS_PER_MS } from '../model/time.js';
import { type ClusterNodeOptions, openClusterNode } from './cluster_node.js';
import type { PriceMaker } from './price_maker.js';
import { openSolo, type PriceMakerOptions } from './solo.js';

export interface OpenPriceMakerOptions
  extends PriceMakerOptions,
    Pick<ClusterNodeOptions, 'onNodes' | 'onStoreChanged'> {
  /** The text of `cluster.credentials`. */
  readonly natsCredentials: string | undefined;
}

/** Opens what the configuration says: a process that is alone, or a node of a cluster. @throws Error of one sentence */
export async function openPriceMaker(options: OpenPriceMakerOptions): Promise<PriceMaker> {
  const { cluster, storage } = options.settings.config;
  if (cluster === undefined) return openSolo(options);
  const { logger, natsCredentials } = options;
  const { servers, tls, replicas, logRetentionMs } = cluster;
  const bus = await openBus({
    name: cluster.name,
    role: cluster.role,
    servers,
    ...(natsCredentials !== undefined && { credentials: natsCredentials }),
    ...(tls && { tls }),
    replicas,
    logRetentionMs,
    candleRetentionMs: Number(storage.candleRetentionNs / NS_PER_MS),
    onNotice: (text) => logger.warn(text),
  });
  const { leaseMs, tickLeaseMs, feedTimeoutMs } = cluster;
  const opening = openClusterNode({
    ...options,
    bus,
    role: cluster.role,
    node: cluster.node,
    name: hostname(),
    timing: { ...DEFAULT_TIMING, leaseMs, tickLeaseMs, feedTimeoutMs },
    configHash: ({ config }) => clusterConfigHash(config),
  });
  return opening.catch(async (error) => {
    // A connection that stays open would keep the process from ending.
    await bus.close();
    throw error;
  });
}
