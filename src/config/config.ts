import type { Asset, ListedPublisher } from '../model/asset.js';
import type { CalendarDefinition } from '../model/calendar/definition.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { toAsset, toPublisher } from './catalogue_entries.js';
import { type ClusterConfig, toCluster } from './cluster_section.js';
import {
  type KeyPlan,
  type KeySource,
  readKeyPlan,
  SIGNING_KEYS,
  type SigningKey,
  toKeySource,
} from './key_source.js';
import { type AdminConfig, type ListenConfig, toAdmin, toListen } from './listen_section.js';
import { type LogConfig, toLog, toStreamLog } from './log_section.js';
import { canonicalText } from './publisher_key.js';
import type { ConfigFile } from './schema.js';

/** The validated configuration. The object is immutable. */
export interface Config {
  /** SHA-256 of the file's text, in hex. */
  readonly fileSha256: string;
  readonly service: {
    /** The service's name in wire identifiers. */
    readonly name: string;
    /** A uint16. */
    readonly taxonomyId: number;
    /** The service's name in Stark messages, with exactly five ASCII characters. */
    readonly oracleId: string;
    readonly encodedAssetId: 'base64' | 'keccak256';
    /** The address of the sockets: ws or wss, without a slash at its end. */
    readonly publicUrl?: string;
  };
  readonly listen: ListenConfig;
  readonly admin: AdminConfig;
  /**
   * The key of each signature type, and the key that signs streaming payloads, by default the EVM key. Only an edge of a cluster may omit the
   * EVM key.
   */
  readonly keys: Readonly<Partial<Record<SigningKey, KeyPlan>>> & {
    /** The Ed25519 key of the public log. */
    readonly log?: KeySource;
    /** The Ed25519 key of this node's public log of streaming payloads. */
    readonly streamLog?: KeySource;
  };
  /** The file of the announcements of keys. */
  readonly announcementsFile?: string;
  /** The announcements in the file, each as `0x` hex; empty without a file. */
  readonly announcements: readonly string[];
  readonly tokens: readonly TokenConfig[];
  /** The assets by {@link AssetIndex}, in the order of the file. */
  readonly assets: readonly Asset[];
  /** The publishers by {@link PublisherIndex}, in the order of the file. */
  readonly publishers: readonly ListedPublisher[];
  readonly ingest: {
    /** The largest accepted age of a publisher's timestamp, by the service's clock. */
    readonly maxPastNs: bigint;
    /** The largest accepted lead of a publisher's timestamp over the service's clock. */
    readonly maxFutureNs: bigint;
    /**
     * The largest time by which a publisher's timestamp may be older than its newest accepted timestamp of the same asset. With 0,
     * the service accepts only newer timestamps.
     */
    readonly maxBackwardNs: bigint;
    /** The largest accepted age of a signed login, by the service's clock. */
    readonly loginMaxPastNs: bigint;
    /** The largest accepted lead of a signed login's time over the service's clock. */
    readonly loginMaxFutureNs: bigint;
  };
  readonly storage: {
    readonly dir: string;
    readonly candleRetentionNs: bigint;
    /** The free space that commits leave on the file system. */
    readonly reserveBytes: number;
    /** The retention times of signed aggregates: with the publishers' inputs, and without them. */
    readonly past: {
      readonly proofsNs: bigint;
      readonly signaturesNs: bigint;
      readonly bytesMax: number | undefined;
    };
  };
  /** The deployments, with the field names of `/v1/deployments/evm`. */
  readonly deployments: readonly Deployment[];
  /** The pushed assets by chain, environment and symbol, in the form of `/v0/deployments/service_pushed_assets`. */
  readonly pushedAssets: PushedAssets;
  readonly calendars: Readonly<Record<string, CalendarDefinition>>;
  readonly limits: Limits;
  /** The section of the public log. Absent when the log is off. */
  readonly log?: LogConfig;
  /** The same section with the name of this node's public log of streaming payloads. Absent when that log is off. */
  readonly streamLog?: LogConfig;
  /** The time for which an edge keeps the records in its copy of the public log. */
  readonly copiedRecordsRetentionNs: bigint;
  /** The section of the cluster. Absent when the process has no cluster. */
  readonly cluster?: ClusterConfig;
}

export type Scope = 'rest' | 'stream' | 'publish';

export interface TokenConfig {
  readonly name: string;
  /** The SHA-256 of the token's text, 32 bytes. */
  readonly sha256: Buffer;
  readonly scopes: ReadonlySet<Scope>;
  readonly requestsPerSecond: number;
  /** The keys for which the token may publish, each in the form of `canonicalText`. Absent when the token may publish for all keys. */
  readonly publisherKeys?: ReadonlySet<string>;
  /** The symbols that the token may see and publish. `*` means all symbols. */
  readonly assets: ReadonlySet<string>;
}

export type Deployment = Readonly<ConfigFile['deployments'][number]>;
export type PushedAssets = Readonly<ConfigFile['pushed_assets']>;

/** The limits. A value equal to its limit is accepted. */
export interface Limits {
  readonly assetsPerRequest: number;
  readonly candlesPerRequest: number;
  /** The number of aggregates in an answer about the past. */
  readonly rangeRows: number;
  readonly subscriptionsPerConnection: number;
  readonly streamConnections: number;
  /** The number of WebSockets and streams of events of a client address, and of its new connections in 12 s. */
  readonly connectionsPerAddress: number;
  readonly connectionsPerToken: number;
  readonly publishConnectionsPerToken: number;
  readonly clientMessageBytes: number;
  readonly publishMessageBytes: number;
  readonly updatesPerMessage: number;
  readonly traceIdCharacters: number;
  readonly controlMessagesPerSecond: number;
  /** The time without progress after which the service closes a reader's connection. */
  readonly slowConsumerMs: number;
  /** The idle timeout, from 8 to 960. uWebSockets.js accepts this range. */
  readonly idleTimeoutSeconds: number;
  /** The time over which the service closes the sockets at shutdown. */
  readonly drainMs: number;
  /** The signed frames per second of each token or key, for frames of one asset. A frame of n assets counts as (400 + n) / 401 frames. */
  readonly signedFramesPerSecond: number;
  /** The number of assets per second in `subscribe` and `unsubscribe`, for each token or key. */
  readonly subscriptionChangesPerSecond: number;
  /** The number of aggregates of the past per second, for each token. The service sends further aggregates more slowly. */
  readonly rangeRowsPerSecond: number;
  /** The bytes of messages per second, for each token or key. */
  readonly publishBytesPerSecond: number;
  /**
   * The number of refused messages per second, for each publisher's token or key. A longer message counts once for each started 64
   * KiB. The service closes the connection that exceeds the limit.
   */
  readonly badMessagesPerSecond: number;
  /**
   * The number of bad signatures per second, for each token or key. Above this number, the service refuses updates without verification.
   */
  readonly badSignaturesPerSecond: number;
  /** The number of aggregates per second that are signed because a price moved, for each asset. */
  readonly deltaAggregatesPerSecond: number;
  /** The number of failed logins per minute, for each client address. */
  readonly failedLoginsPerMinute: number;
  readonly refusedRequestsPerMinute: number;
}

/** The sections whose changes take effect only at the next start. */
const FIXED_SECTIONS = [
  'service',
  'listen',
  'admin',
  'ingest',
  'storage',
  'limits',
  'log',
  'streamLog',
  'cluster',
] as const;

/** Returns the changed sections that apply only after the next start. */
export function changedFixedSections(before: Config, next: Config): readonly string[] {
  return FIXED_SECTIONS.filter((section) => textOf(before[section]) !== textOf(next[section]));
}

/** Returns the configuration after a reload: the next configuration, with the sections of `before` that a reload cannot change. */
export function withFixedSections(before: Config, next: Config): Config {
  const fixed = Object.fromEntries(FIXED_SECTIONS.map((section) => [section, before[section]]));
  return { ...next, ...fixed };
}

/** Converts a file without errors to a configuration. */
export function toConfig(file: ConfigFile, fileSha256: string): Config {
  const { service, keys, limits } = file;
  const log = toLog(file);
  const streamLog = toStreamLog(file);
  return {
    fileSha256,
    service: {
      name: service.name,
      taxonomyId: service.taxonomy_id,
      oracleId: service.oracle_id,
      encodedAssetId: service.encoded_asset_id,
      ...(service.public_url && { publicUrl: service.public_url }),
    },
    listen: toListen(file),
    admin: toAdmin(file),
    keys: {
      ...Object.fromEntries(
        SIGNING_KEYS.flatMap((name) => (keys[name] ? [[name, readKeyPlan(keys[name])] as const] : [])),
      ),
      ...(keys.log && { log: toKeySource(keys.log) }),
      ...(keys.stream_log && { streamLog: toKeySource(keys.stream_log) }),
    },
    ...(keys.announcements && { announcementsFile: keys.announcements }),
    announcements: [],
    tokens: file.tokens.map(toToken),
    assets: file.assets.map((asset, index) => toAsset(asset, index, file.aggregation)),
    publishers: file.publishers.map(toPublisher),
    ingest: {
      maxPastNs: file.ingest.max_past,
      maxFutureNs: file.ingest.max_future,
      maxBackwardNs: file.ingest.max_backward,
      loginMaxPastNs: file.ingest.login_max_past,
      loginMaxFutureNs: file.ingest.login_max_future,
    },
    storage: {
      dir: file.storage.dir,
      candleRetentionNs: file.storage.candle_retention,
      reserveBytes: file.storage.reserve,
      past: {
        proofsNs: file.storage.past.proofs,
        signaturesNs: file.storage.past.signatures,
        bytesMax: file.storage.past.max_bytes,
      },
    },
    deployments: file.deployments,
    pushedAssets: file.pushed_assets,
    calendars: file.calendars,
    limits: {
      assetsPerRequest: limits.assets_per_request,
      candlesPerRequest: limits.candles_per_request,
      rangeRows: limits.range_rows,
      subscriptionsPerConnection: limits.subscriptions_per_connection,
      streamConnections: limits.stream_connections,
      connectionsPerAddress: limits.connections_per_address,
      connectionsPerToken: limits.connections_per_token,
      publishConnectionsPerToken: limits.publish_connections_per_token,
      clientMessageBytes: limits.client_message_bytes,
      publishMessageBytes: limits.publish_message_bytes,
      updatesPerMessage: limits.updates_per_message,
      traceIdCharacters: limits.trace_id_characters,
      controlMessagesPerSecond: limits.control_messages_per_second,
      slowConsumerMs: Number(limits.slow_consumer / NS_PER_MS),
      idleTimeoutSeconds: Number(limits.idle_timeout / NS_PER_SECOND),
      drainMs: Number(limits.drain / NS_PER_MS),
      signedFramesPerSecond: limits.signed_frames_per_second,
      subscriptionChangesPerSecond: limits.subscription_changes_per_second,
      rangeRowsPerSecond: limits.range_rows_per_second,
      publishBytesPerSecond: limits.publish_bytes_per_second,
      badMessagesPerSecond: limits.bad_messages_per_second,
      badSignaturesPerSecond: limits.bad_signatures_per_second,
      deltaAggregatesPerSecond: limits.delta_aggregates_per_second,
      failedLoginsPerMinute: limits.failed_logins_per_minute,
      refusedRequestsPerMinute: limits.refused_requests_per_minute,
    },
    ...(log && { log }),
    ...(streamLog && { streamLog }),
    copiedRecordsRetentionNs: file.log.records_retention,
    ...(file.cluster && { cluster: toCluster(file.cluster) }),
  };
}

function toToken(token: ConfigFile['tokens'][number]): TokenConfig {
  return {
    name: token.name,
    sha256: Buffer.from(token.sha256, 'hex'),
    scopes: new Set(token.scopes),
    requestsPerSecond: token.requests_per_second,
    ...(token.publisher_keys && {
      publisherKeys: new Set(token.publisher_keys.map(canonicalText)),
    }),
    assets: new Set(token.assets),
  };
}

function textOf(section: unknown): string {
  return JSON.stringify(section, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
}
