/** The waiting times of a cluster's nodes, in milliseconds. */
export interface ClusterTiming {
  /**
   * The lease of the leader. A standby claims the lead after both silences: no log record for slightly longer than the lease, and no tick
   * for 0.6 of the lease.
   */
  readonly leaseMs: number;
  /** The time for which a leader that cannot write to the log still sends ticks; at least {@link leaseMs}. */
  readonly tickLeaseMs: number;
  /** The time without ticks after which a follower's prices end. */
  readonly feedTimeoutMs: number;
  /** The time between ticks while no price changes. */
  readonly heartbeatMs: number;
  /** The time between ticks that carry all prices. */
  readonly fullTableMs: number;
  /** The time between the reports of a node. */
  readonly reportMs: number;
  /** The time without messages from any other node after which a node connects to another message server. */
  readonly silenceMs: number;
  /** The time without log records after which a node first connects to another message server. */
  readonly logSilenceMs: number;
  /** The delay before a retry. */
  readonly retryMs: number;
  /** The time for which an acknowledged record may be missing at the log's end, because the server may only be lagging. */
  readonly regressedMs: number;
}

/** The times that are not configurable. */
export const DEFAULT_TIMING = {
  heartbeatMs: 100,
  fullTableMs: 1_000,
  reportMs: 500,
  silenceMs: 1_500,
  logSilenceMs: 4_000,
  retryMs: 100,
  regressedMs: 30_000,
} as const satisfies Partial<ClusterTiming>;

/** The number of writes per lease by which a leader proves that it leads. */
export const BEATS_PER_LEASE = 5;
/** The largest ratio of the speed of a standby's clock to the speed of the leader's clock. */
export const LEASE_MARGIN = 1.01;
/** The delay between the claims of two standbys, long enough that normally only one standby claims. */
export const RANK_DELAY_MS = 50;
