import type { Ticked } from '../clock/ticker.js';
import type { Feed } from '../feed/feed.js';
import type { Counters } from '../metrics/counters.js';
import type { ServingReport } from '../metrics/metrics.js';
import type { Edge } from './edge.js';
import type { EdgeCommand } from './edge_command.js';

/** All edges of the process: one on the main thread, or some on threads of their own. */
export interface EdgeSet extends Omit<Feed, 'begin'>, Ticked {
  readonly port: number;
  /** The number of edges that serve now. */
  readonly count: number;
  /** The bytes of the feed that the edge furthest behind has not read yet. */
  readonly feedBytesWaiting: number;
  tell(command: EdgeCommand): void;
  /** Returns the counts of the edges on threads of their own; they may lack the counts of the main thread. */
  report(): Promise<EdgeSetReport>;
  troubles(): readonly string[];
  /** Accepts nothing new and closes the sockets with 1001; resolves when the closing frames are sent. */
  drain(): Promise<void>;
  /** Closes all connections at once; resolves when the threads have ended. */
  close(): Promise<void>;
}

export interface EdgeSetReport {
  readonly counters: readonly Counters[];
  readonly serving: readonly ServingReport[];
  /** The largest delay of ticks of the edges' threads since the last report. */
  readonly lateNsMax: bigint;
}

/** Returns the set of one edge on the main thread, which uses the counters of that thread. */
export function onlyEdge(edge: Edge): EdgeSet {
  return {
    ...edge,
    get port() {
      return edge.port;
    },
    count: 1,
    tell: (command) => edge.do(command),
    feedBytesWaiting: 0,
    report: async () => ({ counters: [], serving: [edge.report()], lateNsMax: 0n }),
  };
}
