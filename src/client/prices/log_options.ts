/** The option `log` of {@link createClient}: the client looks up a sample of the received prices in the service's public log. */
export interface LogOptions {
  /** The text of a policy file (C2SP tlog-policy): the log, the trusted witnesses, and the number of witnesses that form a quorum. */
  readonly policy: string;
  /** The share of the prices that the client looks up, above 0 and at most 1. Default: 0.01. */
  readonly sample?: number | undefined;
}

/** A price of the sample that the client found in the public log. */
export interface LoggedEvent {
  /** The base address of the service that sent the price. */
  readonly url: string;
  /** The symbol of the asset. */
  readonly symbol: string;
  /** The time of the service's signature of the aggregate, in UNIX nanoseconds. */
  readonly timestampNs: bigint;
  /** The name of the log. */
  readonly origin: string;
  /** The number of the batch that contains the price. */
  readonly batch: bigint;
  /** The witnesses that cosigned the checkpoint, by their names in the policy. */
  readonly cosigners: readonly string[];
}
