import type { Signer } from '../model/node_list.js';
import type { Bus, LogPosition } from './bus.js';
import type { LeaderHost } from './leading/leadership.js';
import type { LogBatch } from './log/log_batch.js';
import type { IdMapping } from './ticks/id_mapping.js';
import type { PriceListener } from './ticks/tick_receiver.js';
import type { ClusterTiming } from './timing.js';

/** Callbacks of a node for the log and the prices of its cluster. */
export interface MemberHost extends LeaderHost {
  /**
   * Called with the next record of the log, on the leader too: the record's content may be shown only from now on. Store the
   * position with it, in one transaction.
   */
  apply(batch: LogBatch, position: LogPosition): void;
  /**
   * Called once, when the log has been applied to the end that it had when this process began to follow it. That includes
   * everything that an earlier process of this node showed, but not all of it may have been on disk when that process was killed:
   * show no record before this call.
   */
  caughtUp(): void;
  /** Called when the log no longer has all records after the applied ones: the store has a gap before this record. */
  missing(firstSequence: number): void;
  /**
   * Returns true when this node's clock is right. A node whose clock is wrong does not lead while another node with a right clock
   * could. `undefined` before that is known: such a node may lead, but takes the lead from no other node.
   */
  clockIsRight(): boolean | undefined;
  /** The listener to the live prices of the leader, while that is another node. */
  readonly prices: PriceListener;
  /** Called when a record of the log has no effect, because no leader wrote it or it is damaged. */
  skipped(reason: string): void;
  /** Called when this node has appended records again that the log had lost. */
  restored(count: number): void;
  /** Called when the node cannot continue: it must end and report this reason. */
  fatal(reason: string): void;
}

export interface MemberOptions {
  readonly bus: Bus;
  readonly host: MemberHost;
  readonly role: 'aggregator' | 'edge';
  /** The node's number, unique in the cluster: 1 .. 63. */
  readonly node: number;
  readonly name: string;
  /** A random text, such as 8 bytes in hex: no other process has the same. */
  readonly run: string;
  /** Returns the hash of the settings that must be equal on all nodes. */
  readonly configHash: () => Uint8Array;
  /** Returns the keys of this node. */
  readonly signers: () => readonly Signer[];
  /** Returns the meaning of streaming IDs on this node, in its present configuration. */
  readonly taxonomy: () => IdMapping;
  /** The last record in the store. */
  readonly applied: LogPosition;
  readonly timing: ClusterTiming;
  /** Returns milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}
