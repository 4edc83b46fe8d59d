import { NS_PER_MS } from '../model/time.js';
import type { KeySource } from './key_source.js';
import type { ConfigFile } from './schema.js';

/** The configuration with which one process of a cluster connects to the other processes. */
export interface ClusterConfig {
  /** The cluster's name in NATS subjects and streams. */
  readonly name: string;
  /** The role of the node. An aggregator makes prices, or is a standby. An edge serves the prices of the leading aggregator. */
  readonly role: 'aggregator' | 'edge';
  /** The node's number, 1 to 63. Each node has a different number. */
  readonly node: number;
  /** The addresses, as `nats://host:port` or `tls://host:port`. The node prefers the first server. */
  readonly servers: readonly string[];
  readonly credentials?: KeySource;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** The number of servers that store each record of the log. */
  readonly replicas: 1 | 3 | 5;
  /** True when the node verifies the inputs' signatures of every record that it applies. */
  readonly verifyRecords: boolean;
  /**
   * The guarantee of `?ack=durable`. `disk`: most servers have written the record to disk with `fsync`; the service refuses durable
   * sessions while a server may lose records. `memory`: most servers have the record in memory.
   */
  readonly durable: 'disk' | 'memory';
  /** The time without messages from the leader after which another aggregator claims the lead. */
  readonly leaseMs: number;
  /** The time for which a leader that cannot write to the log may continue to send ticks. */
  readonly tickLeaseMs: number;
  /** The time without the leader's ticks after which an edge shows no price. */
  readonly feedTimeoutMs: number;
  /** The time for which records stay in the log. */
  readonly logRetentionMs: number;
}

export function toCluster(file: NonNullable<ConfigFile['cluster']>): ClusterConfig {
  const { credentials, tls } = file;
  const ms = (valueNs: bigint) => Number(valueNs / NS_PER_MS);
  return {
    name: file.name,
    role: file.role,
    node: file.node,
    servers: file.servers,
    ...(credentials && {
      credentials: credentials.file === undefined ? { env: credentials.env! } : { file: credentials.file },
    }),
    ...(tls && {
      tls: {
        ...(tls.ca_file !== undefined && { caFile: tls.ca_file }),
        ...(tls.cert_file !== undefined && { certFile: tls.cert_file }),
        ...(tls.key_file !== undefined && { keyFile: tls.key_file }),
      },
    }),
    replicas: file.replicas,
    verifyRecords: file.verify_records,
    durable: file.durable,
    leaseMs: ms(file.lease),
    tickLeaseMs: ms(file.tick_lease),
    feedTimeoutMs: ms(file.feed_timeout),
    logRetentionMs: ms(file.log_retention),
  };
}
