import type { PublicLogKind } from '../log/log_batch.js';

/**
 * The part of a node that makes prices, in the time in which the node makes prices. It gives the public log the ends of its periods.
 */
export interface BatchSource {
  /** The epoch of the leader; 0 without a cluster. */
  readonly epoch: number;
  /** True when another node may make prices. */
  readonly isOver: boolean;
  /** Ends the period that is now over, and returns its end. All later aggregates have later times. */
  endPeriod(periodNs: bigint): bigint;
  /** The earliest time of an aggregate that is still being signed; `undefined` if there is none. */
  readonly signingSinceNs: bigint | undefined;
  /** Resolves when all aggregates signed so far are in the log of prices and have been applied. */
  durable(): Promise<void>;
  /** The reason why the log of prices may lose records; no checkpoint is then signed. */
  readonly doubt: string | undefined;
  /** Writes a part of the public log to the log of prices. Resolves when this node's own public log has received the part. */
  append(kind: PublicLogKind, bytes: Uint8Array): Promise<void>;
}
