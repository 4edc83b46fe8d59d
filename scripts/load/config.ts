import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SignatureType } from '../../src/model/asset.js';
import { toHex } from '../../src/model/hex.js';
import { publisherKeys, SERVICE_KEY } from './keys.js';

/** The access token of a load run. The token has every scope. */
export const TOKEN = 'bench';
/** A second token, for a client whose load must not affect the clients with {@link TOKEN}. */
export const OTHER_TOKEN = 'other';
/** The oracle ID of every publisher. */
export const ORACLE_ID = 'bench';

/** The settings of the service in a load run. */
export interface LoadConfig {
  readonly signatureType: SignatureType;
  /** The number of assets. Assets have the names `A0`, `A1` and so on, and the streaming IDs 0, 1 and so on. */
  readonly assets: number;
  readonly publishers: number;
  /** The clock period. Default: 500ms. */
  readonly clockPeriod?: string;
  /** The value of `listen.threads`. By default, the service chooses. */
  readonly threads?: number;
  /** True when the service has a public log. */
  readonly publicLog?: boolean;
  /** The port of the service. Default: a free port. */
  readonly port?: number;
  readonly adminPort?: number;
  /** The node of a cluster; absent outside a cluster. */
  readonly cluster?: ClusterNode;
}

export interface ClusterNode {
  readonly role: 'aggregator' | 'edge';
  readonly node: number;
  /** The addresses of the NATS servers. The node prefers the first server. */
  readonly servers: readonly string[];
  /** The user and password of the node on the servers. */
  readonly credentials: string;
}

export function symbolOf(asset: number): string {
  return `A${asset}`;
}

/**
 * Writes the configuration and keys of a service. The default folder is a temporary folder that this process removes when it exits.
 * @returns the paths of the configuration file and the data folder
 */
export function writeConfig(
  load: LoadConfig,
  dir: string = temporaryFolder(),
): { readonly file: string; readonly storageDir: string } {
  const {
    signatureType,
    assets,
    publishers,
    clockPeriod = '500ms',
    threads = 'auto',
    publicLog,
    port = 0,
    adminPort = 0,
    cluster,
  } = load;
  const keyFile = join(dir, 'service.hex');
  writeFileSync(keyFile, SERVICE_KEY.toString('hex'), { mode: 0o600 });
  const credentialsFile = join(dir, 'nats.creds');
  if (cluster !== undefined) writeFileSync(credentialsFile, cluster.credentials, { mode: 0o600 });
  const storageDir = join(dir, 'data');
  const config = {
    // All connections of a load come from this machine; a proxy may open as many as it wants.
    listen: { host: '127.0.0.1', port, threads, trusted_proxies: ['127.0.0.1'] },
    admin: { host: '127.0.0.1', port: adminPort },
    keys:
      cluster?.role === 'edge'
        ? { stream: { file: keyFile } }
        : { evm: { file: keyFile }, stark: { file: keyFile }, ...(publicLog && { log: { file: keyFile } }) },
    ...(publicLog && { log: { origin: 'bench.example.com/tlog' } }),
    ...(cluster && {
      cluster: {
        ...cluster,
        credentials: { file: credentialsFile },
        replicas: cluster.servers.length > 1 ? 3 : 1,
        log_retention: '3h',
      },
    }),
    tokens: [TOKEN, OTHER_TOKEN].map((token) => ({
      name: token,
      sha256: createHash('sha256').update(token).digest('hex'),
      scopes: ['rest', 'stream', 'publish'],
      requests_per_second: 1_000_000,
    })),
    assets: Array.from({ length: assets }, (_, asset) => ({
      id: asset,
      symbol: symbolOf(asset),
      signature_type: signatureType,
      max_age: UNLIMITED,
      clock_period: clockPeriod,
    })),
    publishers: Array.from({ length: publishers }, (_, publisher) => ({
      key: toHex(publisherKeys(signatureType, publisher).key),
      signature_type: signatureType,
      oracle_id: ORACLE_ID,
    })),
    // The timestamps of updates are on a fixed day, so every run sends the same bytes. A cluster's log must keep inputs as long
    // as publishers may repeat them, so a cluster has a short limit.
    ingest: { max_past: cluster === undefined ? UNLIMITED : '2h' },
    storage: { dir: storageDir },
    limits: {
      stream_connections: 100_000,
      delta_aggregates_per_second: 1_000_000,
      connections_per_token: 100_000,
      publish_connections_per_token: 100_000,
      idle_timeout: '960s',
      slow_consumer: '60s',
      // The limits are high, because a load run measures the capacity of the service instead of a token's limits.
      signed_frames_per_second: 1_000_000_000,
      subscription_changes_per_second: 1_000_000_000,
      range_rows_per_second: 1_000_000_000,
      publish_bytes_per_second: '64 GiB',
      bad_messages_per_second: 1_000_000_000,
    },
  };
  const file = join(dir, 'config.yaml');
  // JSON text is valid YAML.
  writeFileSync(file, JSON.stringify(config));
  return { file, storageDir };
}

const UNLIMITED = '36500d';

function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-bench-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
