import type { Ticked } from '../clock/ticker.js';
import type { Feed } from '../feed/feed.js';
import type { Counters } from '../metrics/counters.js';
import type { ServingReport } from '../metrics/metrics.js';
import type { Edge } from './edge.js';
import type { EdgeCommand } from './edge_command.js';

/** All edges of the process: one on the main thread, or some on threads of their own. */
export interface EdgeSet extends Omit<Feed, 'begin'>, Ticked {
  readonly port: number;
  /** How many serve now. */
  readonly count: number;
  /** What of the feed the one that is furthest behind has not taken yet, in bytes. */
  readonly feedBytesWaiting: number;
  tell(command: EdgeCommand): void;
  /** Of those on threads of their own; they may not have the counts of the main thread. */
  report(): Promise<EdgeSetReport>;
  troubles(): readonly string[];
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
    tell: (command) => edge.do(command),
    feedBytesWaiting: 0,
    report: async () => ({ counters: [], serving: [edge.report()], lateNsMax: 0n }),
  };
}
