import type { Ticked } from '../clock/ticker.js';
import type { NodeList } from '../model/node_list.js';
import type { Activity } from '../prices/activity.js';
import type { PublishReceiver } from '../prices/publisher_session.js';
import type { AskPast } from './edge/other_pasts.js';
import type { ClusterState, PublicLogState } from './metrics/state.js';
import type { Settings } from './settings.js';

/**
 * The source of this process's prices. It makes prices, or receives them from another machine, and reports them to the edges' feed. It also
 * receives the messages of publishers.
 */
export interface PriceMaker extends Ticked, PublishReceiver {
  /** The number of publishers' updates that are still being verified. */
  readonly updatesWaiting: number;
  /** Returns the last activity of the configured assets and publishers. */
  activity(): Activity;
  /** Returns the state of the cluster as seen by this node. */
  cluster?(): ClusterState;
  /** Returns the state of the public log that this process writes. */
  publicLog?(): PublicLogState | undefined;
  /** The exchange of older signed prices; absent without a cluster. */
  readonly pastExchange?: { readonly ask: AskPast };
  /** The number of seconds by which the times of signed aggregates are ahead of the clock. */
  readonly aggregatesAheadSeconds: number;
  /** Returns the processes that serve these prices. */
  nodes(): NodeList;
  /** Returns the reasons why the service is not ready. */
  troubles(): readonly string[];
  /** Returns the problems of the clock and of the signed times. */
  clockTroubles(): readonly string[];
  /** Starts the source. The edges must exist before this call. */
  start(): void;
  /** Applies a changed configuration. The feed and the edges must already have this configuration. */
  reload(next: Settings): void;
  /** Allows another process to make prices from now on, because this process will soon end. */
  leave(): Promise<void>;
  /** Stops signing aggregates. */
  close(): Promise<void>;
}
