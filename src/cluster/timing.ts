/** How long the nodes of a cluster wait for each other, in milliseconds. */
export interface ClusterTiming {
  /** After this silence of the log and of ticks a standby claims. */
  readonly leaseMs: number;
  /** How long a leader that cannot write to the log goes on sending ticks; at least {@link leaseMs}. */
  readonly tickLeaseMs: number;
  /** After this silence of ticks a node that does not lead has no prices. */
  readonly feedTimeoutMs: number;
  /** Between ticks when no price changes. */
  readonly heartbeatMs: number;
  /** Between ticks that carry all prices. */
  readonly fullTableMs: number;
  /** Between the reports of a node. */
  readonly reportMs: number;
  /** A node that hears nothing of others for so long goes to another message server. */
  readonly silenceMs: number;
  /** The same for a silent log, the first time. */
  readonly logSilenceMs: number;
  /** Before something that failed is tried again. */
  readonly retryMs: number;
  /** How long the log may end before what was acknowledged: until then a server may just lag. */
  readonly regressedMs: number;
}

/** All but what the configuration says. */
export const DEFAULT_TIMING = {
  heartbeatMs: 100,
  fullTableMs: 1_000,
  reportMs: 500,
  silenceMs: 1_500,
  logSilenceMs: 4_000,
  retryMs: 100,
  regressedMs: 30_000,
} as const satisfies Partial<ClusterTiming>;

/** A leader writes so often in a lease, if only to say that it leads. */
export const BEATS_PER_LEASE = 5;
/** A standby's clock may run faster than the leader's by this factor. */
export const LEASE_MARGIN = 1.01;
/** The standbys wait one after the other, so that as a rule only one claims. */
export const RANK_DELAY_MS = 50;
