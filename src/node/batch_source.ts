import type { PublicLogKind } from '../cluster/log/log_batch.js';

/** The maker of prices, while this node makes prices. */
export interface BatchSource {
  /** The epoch of the leader; 0 without a cluster. */
  readonly epoch: number;
  /** True when another node may make prices. */
  readonly isOver: boolean;
  /** Ends the period that the clock has left, and returns the end of that period. All later aggregates have later times. */
  endPeriod(periodNs: bigint): bigint;
  /** The earliest time of the aggregates whose signing is in progress; `undefined` without such aggregates. */
  readonly signingSinceNs: bigint | undefined;
  /** Resolves when all aggregates signed so far are in the log of prices and applied. */
  durable(): Promise<void>;
  /** The reason why the log of prices may lose what it has; then no checkpoint is signed. */
  readonly doubt: string | undefined;
  /** Writes a part of the public log to the log of prices. Resolves when this node's public log has received the part. */
  append(kind: PublicLogKind, bytes: Uint8Array): Promise<void>;
}
