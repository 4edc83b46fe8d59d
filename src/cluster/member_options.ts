import type { LogIdentity, Signer } from '../model/node_list.js';
import type { Bus, LogPosition } from './bus.js';
import type { LeaderHost } from './leading/leadership.js';
import type { LogBatch } from './log/log_batch.js';
import type { LogFault } from './log/log_follower_options.js';
import type { IdMapping } from './ticks/id_mapping.js';
import type { IdsRefusal } from './ticks/leader_names.js';
import type { PriceListener } from './ticks/tick_receiver.js';
import type { ClusterTiming } from './timing.js';

/** The callbacks through which a node receives its cluster's log and prices. */
export interface MemberHost extends LeaderHost {
  /**
   * Called with each next record of the log, also on the leader. The record's content may be shown only after this call. The store must
   * write the position and the content in one transaction.
   */
  apply(batch: LogBatch, position: LogPosition): void;
  /**
   * Called once, when the node has applied all records that the log had when this process started. These include everything that an earlier
   * process of this node showed. If that process was killed, the disk may lack some of these records, so the node must show no record
   * before this call.
   */
  caughtUp(): void;
  /** Called when the log has deleted records that this node has not applied. The store then has a gap before the record `firstSequence`. */
  missing(firstSequence: number): void;
  /**
   * Returns true when this node's clock is correct. A node with a wrong clock does not lead while a node with a correct clock could lead.
   * Returns `undefined` while the state of the clock is unknown; the node may then lead, but does not take the lead from another node.
   */
  clockIsRight(): boolean | undefined;
  /** The listener for the leader's live prices, while another node leads. */
  readonly prices: PriceListener;
  faulty(fault: LogFault, reason: string): void;
  /** Called after this node has appended lost records to the log again. */
  restored(count: number): void;
  /** Called when the node cannot continue. The process must then exit and report this reason. */
  fatal(reason: string): void;
}

export interface MemberOptions {
  readonly bus: Bus;
  readonly host: MemberHost;
  readonly role: 'aggregator' | 'edge';
  /** The node's number, unique in the cluster: 1 .. 63. */
  readonly node: number;
  readonly name: string;
  /** A random text that identifies the process, such as 8 bytes in hex. */
  readonly run: string;
  /** Returns the hash of the settings that must be equal on all nodes. */
  readonly configHash: () => Uint8Array;
  /** Returns the keys of this node. */
  readonly signers: () => readonly Signer[];
  /** Returns the log of the streaming payloads that this node signs; `undefined` without such a log. */
  readonly streamLog?: () => LogIdentity | undefined;
  /** Returns the meaning of the streaming IDs in this node's current configuration. */
  readonly taxonomy: () => IdMapping;
  /** Returns the reason why the leader's streaming IDs contradict those that this node has served. */
  readonly refuseIds?: IdsRefusal;
  /** The position of the last record in the store. */
  readonly applied: LogPosition;
  readonly timing: ClusterTiming;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  /** Calls the function after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}
