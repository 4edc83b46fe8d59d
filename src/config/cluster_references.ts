import { CHECKPOINT_S, CLUSTER_ASSETS_MAX } from '../model/node_list.js';
import { NS_PER_SECOND } from '../model/time.js';
import { RECENT_WINDOW_S } from '../wire/rest_values.js';
import type { Problem } from './document.js';
import type { ReadableFile } from './readable_file.js';

/** Finds conflicts between two keys of `cluster`, or between `cluster` and other keys. */
export function* clusterProblems({ cluster, ingest, assets }: ReadableFile): Generator<Problem> {
  if (cluster === undefined) return;
  if (assets.length > CLUSTER_ASSETS_MAX)
    yield {
      path: ['assets'],
      message: `${assets.length} assets: a cluster takes at most ${CLUSTER_ASSETS_MAX}`,
    };
  const { lease, tick_lease, feed_timeout, log_retention, servers } = cluster;
  if (lease !== undefined && tick_lease !== undefined && tick_lease < lease)
    yield {
      path: ['cluster', 'tick_lease'],
      message: 'shorter than cluster.lease, after which another aggregator takes over',
    };
  if (lease !== undefined && feed_timeout !== undefined && feed_timeout <= lease)
    yield {
      path: ['cluster', 'feed_timeout'],
      message: 'not longer than cluster.lease: every change of the leader would leave readers without prices',
    };
  const neededS = BigInt(RECENT_WINDOW_S + CHECKPOINT_S) + (ingest.max_past ?? 0n) / NS_PER_SECOND;
  if (log_retention !== undefined && log_retention < neededS * NS_PER_SECOND)
    yield {
      path: ['cluster', 'log_retention'],
      message: `too short: a node that starts needs ${neededS}s, which are ${RECENT_WINDOW_S}s of recent prices, ingest.max_past and the ${CHECKPOINT_S}s within which older inputs are written again`,
    };
  for (const [index, server] of (servers ?? []).entries()) {
    const first = servers!.indexOf(server);
    if (first !== index)
      yield { path: ['cluster', 'servers', index], message: `the same as cluster.servers[${first}]` };
  }
}
