import type { Ticked } from '../../clock/ticker.js';
import type { FeedMessages } from '../../log/feed/feed.js';
import type { Counters } from '../../model/counters.js';
import type { ServingReport } from '../metrics/metrics.js';
import type { Edge } from './edge.js';
import type { EdgeCommand } from './edge_command.js';

/** All edges of the process: one edge on the main thread, or several edges that each have their own thread. */
export interface EdgeSet extends FeedMessages, Ticked {
  readonly port: number;
  /** The number of edges that serve now. */
  readonly count: number;
  /** The number of bytes of the feed that the slowest edge has not read yet. */
  readonly feedBytesWaiting: number;
  tell(command: EdgeCommand): void;
  /** Returns the counts of all edges with their own threads. The counts of the main thread may be missing. */
  report(): Promise<EdgeSetReport>;
  troubles(): readonly string[];
  /** Refuses new connections, and closes the sockets with 1001. Resolves when the close frames are sent. */
  drain(): Promise<void>;
  /** Closes all connections immediately. Resolves when the threads have ended. */
  close(): Promise<void>;
}

export interface EdgeSetReport {
  readonly counters: readonly Counters[];
  readonly serving: readonly ServingReport[];
  /** The largest delay of the ticks of the edges' threads since the last report. */
  readonly lateNsMax: bigint;
}

/** Returns a set with one edge on the main thread. The edge uses the counters of the main thread. */
export function onlyEdge(edge: Edge): EdgeSet {
  return {
    get port() {
      return edge.port;
    },
    count: 1,
    feedBytesWaiting: 0,
    priced: (message) => edge.priced(message),
    recorded: (message) => edge.recorded(message),
    withdrawn: (message) => edge.withdrawn(message),
    ended: (message) => edge.ended(message),
    applied: (receivedNs) => edge.applied(receivedNs),
    tell: (command) => edge.do(command),
    tick: (nowNs) => edge.tick(nowNs),
    nextDueNs: (nowNs) => edge.nextDueNs(nowNs),
    report: async () => ({ counters: [], serving: [edge.report()], lateNsMax: 0n }),
    troubles: () => edge.troubles(),
    drain: () => edge.drain(),
    close: () => edge.close(),
  };
}
