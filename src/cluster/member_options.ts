import type { Signer } from '../model/node_list.js';
import type { Bus, LogPosition } from './bus.js';
import type { LeaderHost } from './leading/leadership.js';
import type { LogBatch } from './log/log_batch.js';
import type { IdMapping } from './ticks/id_mapping.js';
import type { PriceListener } from './ticks/tick_receiver.js';
import type { ClusterTiming } from './timing.js';

/** What a node does with what the cluster tells it. */
export interface MemberHost extends LeaderHost {
  /**
   * The next record of the log, on the leader too: only now what is in it may be seen. Store the position with it, in one transaction.
   */
  apply(batch: LogBatch, position: LogPosition): void;
  /**
   * Called once: the log has been applied to the end that it had when this process began to follow it. What an earlier process of this
   * node showed is in there, but not all of it may have been on disk when that one was killed: show no record before.
   */
  caughtUp(): void;
  /** The log no longer has all that follows what was applied: the store has a gap before this record. */
  missing(firstSequence: number): void;
  /**
   * A node whose clock is wrong does not lead while another one could whose clock is right. `undefined` before that is known: such a node
   * may lead, and takes the lead from nobody.
   */
  clockIsRight(): boolean | undefined;
  /** The live prices of the leader, while that is another node. */
  readonly prices: PriceListener;
  /** Nothing can go on: the node must end and say so. */
  fatal(reason: string): void;
}

export interface MemberOptions {
  readonly bus: Bus;
  readonly host: MemberHost;
  readonly role: 'aggregator' | 'edge';
  /** Unique in the cluster: 1 .. 63. */
  readonly node: number;
  readonly name: string;
  /** A random text, as of 8 bytes in hex: no other process has the same. */
  readonly run: string;
  /** Of what must be equal on all nodes. */
  readonly configHash: () => Uint8Array;
  /** The keys of this node. */
  readonly signers: () => readonly Signer[];
  /** What streaming IDs mean on this node, as it is configured now. */
  readonly taxonomy: () => IdMapping;
  /** The last record that the store has. */
  readonly applied: LogPosition;
  readonly timing: ClusterTiming;
  /** Milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}
