/** The waiting times of a cluster's nodes, in milliseconds. */
export interface ClusterTiming {
  /**
   * The lease of the leader. A standby claims the lead when two silences have lasted long enough: that of the log a little longer
   * than the lease, and that of the ticks for 0.6 of the lease.
   */
  readonly leaseMs: number;
  /**
   * The time for which a leader that cannot write to the log continues to send ticks. The time is at least
   * {@link leaseMs}.
   */
  readonly tickLeaseMs: number;
  /** The time without ticks after which a following node has no prices. */
  readonly feedTimeoutMs: number;
  /** The time between ticks while no price changes. */
  readonly heartbeatMs: number;
  /** The time between ticks that carry all prices. */
  readonly fullTableMs: number;
  /** The time between the reports of a node. */
  readonly reportMs: number;
  /** The time without messages of any other node after which a node connects to another message server. */
  readonly silenceMs: number;
  /** The time without records of the log after which a node first connects to another message server. */
  readonly logSilenceMs: number;
  /** The delay before a failed action is tried again. */
  readonly retryMs: number;
  /** The time for which the log may end before an acknowledged record. Before that time has passed, the server may only lag. */
  readonly regressedMs: number;
}

/** The times that the configuration does not set. */
export const DEFAULT_TIMING = {
  heartbeatMs: 100,
  fullTableMs: 1_000,
  reportMs: 500,
  silenceMs: 1_500,
  logSilenceMs: 4_000,
  retryMs: 100,
  regressedMs: 30_000,
} as const satisfies Partial<ClusterTiming>;

/** The number of writes in each lease by which a leader proves that it leads. */
export const BEATS_PER_LEASE = 5;
/** The largest factor by which a standby's clock may run faster than the leader's clock. */
export const LEASE_MARGIN = 1.01;
/** The delay between the claims of two standbys. This delay is long enough that normally only one standby claims. */
export const RANK_DELAY_MS = 50;
