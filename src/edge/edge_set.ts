import type { Ticked } from '../clock/ticker.js';
import type { Config } from '../config/config.js';
import type { Feed } from '../feed/feed.js';
import type { Counters } from '../metrics/counters.js';
import type { ServingReport } from '../metrics/metrics.js';
import type { NodeList } from '../model/node_list.js';
import type { Edge, Identity } from './edge.js';

/** All edges of the process: one on the main thread, or some on threads of their own. */
export interface EdgeSet extends Omit<Feed, 'begin'>, Ticked {
  readonly port: number;
  /** How many serve now. */
  readonly count: number;
  /** What of the feed the one that is furthest behind has not taken yet, in bytes. */
  readonly feedBytesWaiting: number;
  reload(config: Config, identity: Identity): void;
  setNodes(nodes: NodeList): void;
  /** The store got records in another way than by the feed: those that read it from disk read it anew. */
  storeChanged(): void;
  /** Of those on threads of their own; they may not have the counts of the main thread. */
  report(): Promise<EdgeSetReport>;
  troubles(): readonly string[];
  setAccepting(accepting: boolean): void;
  /** Another process is about to serve: makes no frames, and only answers requests. */
  handOver(): void;
  /** Takes nothing new and closes the sockets with 1001; resolves when the closing frames are out. */
  drain(): Promise<void>;
  /** Closes all connections at once; resolves when the threads have ended. */
  close(): Promise<void>;
}

export interface EdgeSetReport {
  readonly counters: readonly Counters[];
  readonly serving: readonly ServingReport[];
  /** How late ticks of their threads were at most since the last report. */
  readonly lateNsMax: bigint;
}

/** An edge on the main thread, with whose counters it counts. */
export function onlyEdge(edge: Edge): EdgeSet {
  return {
    ...edge,
    get port() {
      return edge.port;
    },
    count: 1,
    storeChanged() {},
    feedBytesWaiting: 0,
    report: async () => ({ counters: [], serving: [edge.report()], lateNsMax: 0n }),
  };
}
