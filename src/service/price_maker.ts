import type { PublishReceiver } from '../aggregator/publisher_session.js';
import type { Ticked } from '../clock/ticker.js';
import type { Activity, ClusterState } from '../metrics/state.js';
import type { NodeList } from '../model/node_list.js';
import type { Settings } from './settings.js';

/**
 * Where the prices of this process come from: it makes them, or another machine does. They go to the feed of the edges; it takes what
 * publishers send to them.
 */
export interface PriceMaker extends Ticked, PublishReceiver {
  /** Publishers' updates that wait for their verdict. */
  readonly updatesWaiting: number;
  /** What the configured assets and publishers last did. */
  activity(): Activity;
  /** What a node of a cluster says of itself. */
  cluster?(): ClusterState;
  /** How far the times that aggregates are signed with are ahead of the clock. */
  readonly aggregatesAheadSeconds: number;
  /** The processes that serve these prices. */
  nodes(): NodeList;
  /** Why the service is not ready. */
  troubles(): readonly string[];
  /** What is wrong with the clock, or with the times that are signed. */
  clockTroubles(): readonly string[];
  /** Begins, when the edges are there. */
  start(): void;
  /** Puts a changed configuration in force; the feed and the edges have it. */
  reload(next: Settings): void;
  /** The process is about to end: another one may make prices from now on. */
  leave(): Promise<void>;
  /** Signs nothing from now on. */
  close(): Promise<void>;
}
