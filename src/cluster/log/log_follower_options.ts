import type { Bus, LogPosition } from '../bus.js';
import type { ClusterTiming } from '../timing.js';
import type { LogBatch } from './log_batch.js';

/**
 * A fault that the chain of records shows. A `skipped record` has no effect, because it does not fit the chain. With a `damaged copy`, a
 * server lacks a record or has other bytes, and the node asks the other servers.
 */
export type LogFault = 'skipped record' | 'damaged copy';

export interface LogFollowerOptions {
  readonly bus: Pick<Bus, 'append' | 'read' | 'extent' | 'onCommitted' | 'reconnect'>;
  /** The last record that this node has applied. */
  readonly position: LogPosition;
  /** Returns the highest sequence that other nodes have reported as applied. */
  readonly reportedEnd: () => number;
  /** Called with each next record of the log. */
  readonly apply: (batch: LogBatch, position: LogPosition) => void;
  /** Called once, after this node has applied all records that the log had when following began. */
  readonly caughtUp: () => void;
  /** Called when the record after the position has been deleted from the log. Following continues at this sequence. */
  readonly missing: (firstSequence: number) => void;
  /** Called when this node can no longer follow the log. No record is applied after this call. */
  readonly broken: (reason: string) => void;
  readonly faulty: (fault: LogFault, reason: string) => void;
  /** Called after this node has appended lost records again; absent on a node that may not write to the log. */
  readonly restored?: ((count: number) => void) | undefined;
  readonly timing: Pick<ClusterTiming, 'leaseMs' | 'retryMs' | 'regressedMs'>;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
}
