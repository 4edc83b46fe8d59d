import type { Signer } from '../model/node_list.js';
import type { Bus, LogPosition } from './bus.js';
import type { LeaderHost } from './leading/leadership.js';
import type { LogBatch } from './log/log_batch.js';
import type { IdMapping } from './ticks/id_mapping.js';
import type { PriceListener } from './ticks/tick_receiver.js';
import type { ClusterTiming } from './timing.js';

/** The callbacks through which a node receives the log and the prices of its cluster. */
export interface MemberHost extends LeaderHost {
  /**
   * Called with the next record of the log, also on the leader. The content of the record may be shown only after this call. The
   * store must write the position and the content in one transaction.
   */
  apply(batch: LogBatch, position: LogPosition): void;
  /**
   * Called once, after the node has applied all records that the log had when this process began to follow the log. These records
   * include everything that an earlier process of this node showed. If that process was killed, the disk may lack some of these
   * records. So the node must not show any record before this call.
   */
  caughtUp(): void;
  /**
   * Called when the log no longer has all records after the applied records. The store then has a gap before the record
   * `firstSequence`.
   */
  missing(firstSequence: number): void;
  /**
   * Returns true when this node's clock is correct. A node with a wrong clock does not lead while a node with a correct clock
   * could lead. Returns `undefined` while the state of the clock is unknown. In this case the node may lead, but the node does
   * not take the lead from another node.
   */
  clockIsRight(): boolean | undefined;
  /** The listener to the leader's live prices, while another node leads. */
  readonly prices: PriceListener;
  /** Called when a record of the log has no effect, because the record is damaged or no leader wrote the record. */
  skipped(reason: string): void;
  /** Called after this node has appended lost records of the log again. */
  restored(count: number): void;
  /** Called when the node cannot continue. The node must then end and report this reason. */
  fatal(reason: string): void;
}

export interface MemberOptions {
  readonly bus: Bus;
  readonly host: MemberHost;
  readonly role: 'aggregator' | 'edge';
  /** The node's number, unique in the cluster: 1 .. 63. */
  readonly node: number;
  readonly name: string;
  /** A random text, such as 8 bytes in hex. No other process has the same text. */
  readonly run: string;
  /** Returns the hash of the settings that must be equal on all nodes. */
  readonly configHash: () => Uint8Array;
  /** Returns the keys of this node. */
  readonly signers: () => readonly Signer[];
  /** Returns the meaning of streaming IDs in this node's current configuration. */
  readonly taxonomy: () => IdMapping;
  /** The last record in the store. */
  readonly applied: LogPosition;
  readonly timing: ClusterTiming;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  /** Calls back after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}
