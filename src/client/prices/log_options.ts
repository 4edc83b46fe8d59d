/** The option `log` of {@link createClient}: a sample of the received prices is looked up in the service's public log. */
export interface LogOptions {
  /** The text of a policy file (C2SP tlog-policy): the log, the witnesses that you trust, and how many of them are a quorum. */
  readonly policy: string;
  /** The share of the prices that are looked up, above 0 and at most 1. Default: 0.01. */
  readonly sample?: number | undefined;
}

/** A price of the sample, which the public log has. */
export interface LoggedEvent {
  /** The base address of the service that sent the price. */
  readonly url: string;
  /** The symbol of the asset. */
  readonly symbol: string;
  /** The time of the service's signature of the aggregate, in UNIX nanoseconds. */
  readonly timestampNs: bigint;
  /** The name of the log. */
  readonly origin: string;
  /** The number of the batch that has the price. */
  readonly batch: bigint;
  /** The witnesses that cosigned the checkpoint, by their names in the policy. */
  readonly cosigners: readonly string[];
}
