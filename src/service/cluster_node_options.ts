import type { Bus } from '../cluster/bus.js';
import type { LogServers } from '../cluster/log/log_servers.js';
import type { SharedCandles } from '../cluster/log/shared_candles.js';
import type { MemberOptions } from '../cluster/member_options.js';
import type { StreamingIds } from '../log/store/streaming_ids.js';
import type { NodeList } from '../model/node_list.js';
import type { PriceMakerOptions } from './solo.js';

export interface ClusterNodeOptions extends PriceMakerOptions {
  readonly hooks: PriceMakerOptions['hooks'] & NodeHooks;
  /** The list of the streaming IDs that this node has served, and of those of its leaders. */
  readonly ids: StreamingIds;
  readonly bus: Bus & LogServers & { readonly candles: SharedCandles };
  /** The guarantee of `?ack=durable`: `cluster.durable` of the configuration. */
  readonly durable: 'disk' | 'memory';
  /** True when the node verifies the signatures of all inputs in each record that it applies. */
  readonly verifyRecords: boolean;
  readonly member: Pick<MemberOptions, 'node' | 'name' | 'role' | 'timing'>;
}

export interface NodeHooks {
  /** Called when the nodes of {@link PriceMaker.nodes} or their keys have changed. */
  readonly onNodes: (nodes: NodeList) => void;
  /** Called when the store has received candles that did not come from the feed. */
  readonly onStoreChanged: () => void;
}
