/** The times for which the nodes of a cluster wait for each other, in milliseconds. */
export interface ClusterTiming {
  /** The silence of the log and of ticks after which a standby claims. */
  readonly leaseMs: number;
  /** The time for which a leader that cannot write to the log continues to send ticks; at least {@link leaseMs}. */
  readonly tickLeaseMs: number;
  /** The silence of ticks after which a node that does not lead has no prices. */
  readonly feedTimeoutMs: number;
  /** The time between ticks while no price changes. */
  readonly heartbeatMs: number;
  /** The time between ticks that carry all prices. */
  readonly fullTableMs: number;
  /** The time between the reports of a node. */
  readonly reportMs: number;
  /** The silence of all other nodes after which a node connects to another message server. */
  readonly silenceMs: number;
  /** The same for a silent log, the first time. */
  readonly logSilenceMs: number;
  /** The delay before a failed action is tried again. */
  readonly retryMs: number;
  /** The time for which the log may end before an acknowledged record: until then a server may just lag. */
  readonly regressedMs: number;
}

/** All times that the configuration does not set. */
export const DEFAULT_TIMING = {
  heartbeatMs: 100,
  fullTableMs: 1_000,
  reportMs: 500,
  silenceMs: 1_500,
  logSilenceMs: 4_000,
  retryMs: 100,
  regressedMs: 30_000,
} as const satisfies Partial<ClusterTiming>;

/** The number of times that a leader writes in a lease, if only to show that it leads. */
export const BEATS_PER_LEASE = 5;
/** The factor by which a standby's clock may run faster than the leader's. */
export const LEASE_MARGIN = 1.01;
/** The delay between the claims of standbys, so that normally only one claims. */
export const RANK_DELAY_MS = 50;
