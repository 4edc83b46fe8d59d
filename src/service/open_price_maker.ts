import { hostname } from 'node:os';
import { openBus } from '../cluster/open_bus.js';
import { DEFAULT_TIMING } from '../cluster/timing.js';
import { NS_PER_MS } from '../model/time.js';
import { openClusterNode } from './cluster_node.js';
import type { ClusterNodeOptions } from './cluster_node_options.js';
import type { PriceMaker } from './price_maker.js';
import { openSolo } from './solo.js';

export interface OpenPriceMakerOptions
  extends Pick<ClusterNodeOptions, 'settings' | 'parts' | 'hooks' | 'ids'> {
  /** The content of the file `cluster.credentials`. */
  readonly natsCredentials: string | undefined;
}

/** Opens the maker that the configuration names: a single process, or a node of a cluster. @throws Error whose message is one sentence */
export async function openPriceMaker(options: OpenPriceMakerOptions): Promise<PriceMaker> {
  const { settings, parts, hooks, ids, natsCredentials } = options;
  const { cluster, storage } = settings.config;
  if (cluster === undefined) return openSolo({ settings, parts, hooks });
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
    onNotice: (text) => parts.logger.warn(text),
  });
  const { node, role, durable, verifyRecords, leaseMs, tickLeaseMs, feedTimeoutMs } = cluster;
  const timing = { ...DEFAULT_TIMING, leaseMs, tickLeaseMs, feedTimeoutMs };
  const opening = openClusterNode({
    settings,
    parts,
    hooks,
    ids,
    bus,
    durable,
    verifyRecords,
    member: { node, name: hostname(), role, timing },
  });
  return opening.catch(async (error) => {
    // An open connection would keep the process alive.
    await bus.close();
    throw error;
  });
}
