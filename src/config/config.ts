import type { CalendarDefinition } from '../calendar/definition.js';
import type { AddressBlock } from '../model/address.js';
import type { Asset, AssetIndex, ListedPublisher, PublisherIndex } from '../model/asset.js';
import { parseHex } from '../model/hex.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { type ClusterConfig, toCluster } from './cluster_section.js';
import { type KeySource, toKeySource } from './key_source.js';
import { canonicalKey, parsePublisherKey } from './publisher_key.js';
import type { ConfigFile } from './schema.js';

/** The checked configuration of an operator; it never changes. */
export interface Config {
  /** SHA-256 of the file's text, in hex. */
  readonly fileSha256: string;
  readonly service: {
    /** The word in wire identifiers. */
    readonly name: string;
    /** uint16. */
    readonly taxonomyId: number;
    /** Exactly five ASCII characters: the service's name inside Stark messages. */
    readonly oracleId: string;
    readonly encodedAssetId: 'base64' | 'keccak256';
    /** A ws or wss address without a slash at the end. */
    readonly publicUrl?: string;
  };
  readonly listen: ListenSection & {
    readonly tls?: { readonly certFile: string; readonly keyFile: string };
    /** The number of threads that serve the sockets. */
    readonly threads: number | 'auto';
    /** The proxies whose `X-Forwarded-For` names the client. */
    readonly trustedProxies: readonly AddressBlock[];
    /** The origins of web pages that may read REST and open streams; `*` means all. */
    readonly allowedOrigins: readonly string[];
  };
  readonly admin: ListenSection;
  readonly keys: {
    /** Missing only on an edge of a cluster. */
    readonly evm?: KeySource;
    readonly stark?: KeySource;
    /** The key that signs streaming payloads; if absent, `evm` signs them. */
    readonly stream?: KeySource;
  };
  readonly tokens: readonly TokenConfig[];
  /** The assets by {@link AssetIndex}, in the order of the file. */
  readonly assets: readonly Asset[];
  /** The publishers by {@link PublisherIndex}, in the order of the file. */
  readonly publishers: readonly ListedPublisher[];
  readonly ingest: {
    /** The largest distance of a publisher's timestamp behind the service's clock. */
    readonly maxPastNs: bigint;
    /** The largest distance of that timestamp ahead of the clock. */
    readonly maxFutureNs: bigint;
    /**
     * The largest distance of that timestamp behind the newest accepted one of the same publisher and asset; 0: only newer ones
     * count.
     */
    readonly maxBackwardNs: bigint;
    /** The largest distance of a login's time, by signature, behind the service's clock. */
    readonly loginMaxPastNs: bigint;
    /** The largest distance of that time ahead of the clock. */
    readonly loginMaxFutureNs: bigint;
  };
  readonly storage: {
    readonly dir: string;
    readonly candleRetentionNs: bigint;
    /** The free space that commits leave to the file system. */
    readonly reserveBytes: number;
  };
  /** With the field names of `/v1/deployments/evm`. */
  readonly deployments: readonly Deployment[];
  /** Pushed assets by chain, environment and symbol, as `/v0/deployments/service_pushed_assets` lists them. */
  readonly pushedAssets: PushedAssets;
  readonly calendars: Readonly<Record<string, CalendarDefinition>>;
  readonly limits: Limits;
  /** Absent when the process is alone. */
  readonly cluster?: ClusterConfig;
}

export interface ListenSection {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
}

export type Scope = 'rest' | 'stream' | 'publish';

export interface TokenConfig {
  readonly name: string;
  /** The 32 bytes of the SHA-256 of the token's text. */
  readonly sha256: Buffer;
  readonly scopes: ReadonlySet<Scope>;
  readonly requestsPerSecond: number;
  /** The only keys for which the token may publish, each as `canonicalKey` writes it; absent when the token may publish for all. */
  readonly publisherKeys?: ReadonlySet<string>;
  /** Symbols that the token may see and publish, or `*`. */
  readonly assets: ReadonlySet<string>;
}

export type Deployment = Readonly<ConfigFile['deployments'][number]>;
export type PushedAssets = Readonly<ConfigFile['pushed_assets']>;

/** The limits. Each is the largest value that works; one more is refused. */
export interface Limits {
  readonly assetsPerRequest: number;
  readonly candlesPerRequest: number;
  readonly subscriptionsPerConnection: number;
  readonly streamConnections: number;
  readonly connectionsPerToken: number;
  readonly clientMessageBytes: number;
  readonly publishMessageBytes: number;
  readonly updatesPerMessage: number;
  readonly controlMessagesPerSecond: number;
  /** The time without progress after which a reader's connection is closed. */
  readonly slowConsumerMs: number;
  /** 8 to 960, the bounds of uWebSockets.js. */
  readonly idleTimeoutSeconds: number;
  /** The time over which the sockets are closed at shutdown. */
  readonly drainMs: number;
  /** The limit of one asset, of a token or key; a frame of n assets counts as (400 + n) / 401. */
  readonly signedFramesPerSecond: number;
  /** Assets in `subscribe` and `unsubscribe`, of a token or key. */
  readonly subscriptionChangesPerSecond: number;
  /** The limit of a token or key. */
  readonly publishBytesPerSecond: number;
  /** The limit of a token or key of publishers, in messages of 64 KiB each; the connection that sends one more is closed. */
  readonly badMessagesPerSecond: number;
  /** The limit of a token or key; the updates after it are refused without verification. */
  readonly badSignaturesPerSecond: number;
  /** Per client address. */
  readonly failedLoginsPerMinute: number;
}

/** The sections that take effect only at the next start. */
const FIXED_SECTIONS = ['service', 'listen', 'admin', 'ingest', 'storage', 'limits', 'cluster'] as const;

/** Returns the sections that differ and that a reload cannot change. */
export function changedFixedSections(before: Config, next: Config): readonly string[] {
  return FIXED_SECTIONS.filter((section) => textOf(before[section]) !== textOf(next[section]));
}

/** Returns the configuration that a reload puts in force: the next one, except the sections that a reload cannot change. */
export function withFixedSections(before: Config, next: Config): Config {
  const fixed = Object.fromEntries(FIXED_SECTIONS.map((section) => [section, before[section]]));
  return { ...next, ...fixed };
}

/** Converts a file without errors to a configuration. */
export function toConfig(file: ConfigFile, fileSha256: string): Config {
  const { service, listen, keys, limits } = file;
  return {
    fileSha256,
    service: {
      name: service.name,
      taxonomyId: service.taxonomy_id,
      oracleId: service.oracle_id,
      encodedAssetId: service.encoded_asset_id,
      ...(service.public_url && { publicUrl: service.public_url }),
    },
    listen: {
      host: listen.host,
      port: listen.port,
      threads: listen.threads,
      trustedProxies: listen.trusted_proxies,
      allowedOrigins: listen.allowed_origins,
      ...(listen.tls && { tls: { certFile: listen.tls.cert_file, keyFile: listen.tls.key_file } }),
    },
    admin: file.admin,
    keys: {
      ...(keys.evm && { evm: toKeySource(keys.evm) }),
      ...(keys.stark && { stark: toKeySource(keys.stark) }),
      ...(keys.stream && { stream: toKeySource(keys.stream) }),
    },
    tokens: file.tokens.map(toToken),
    assets: file.assets.map(toAsset),
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
    },
    deployments: file.deployments,
    pushedAssets: file.pushed_assets,
    calendars: file.calendars,
    limits: {
      assetsPerRequest: limits.assets_per_request,
      candlesPerRequest: limits.candles_per_request,
      subscriptionsPerConnection: limits.subscriptions_per_connection,
      streamConnections: limits.stream_connections,
      connectionsPerToken: limits.connections_per_token,
      clientMessageBytes: limits.client_message_bytes,
      publishMessageBytes: limits.publish_message_bytes,
      updatesPerMessage: limits.updates_per_message,
      controlMessagesPerSecond: limits.control_messages_per_second,
      slowConsumerMs: Number(limits.slow_consumer / NS_PER_MS),
      idleTimeoutSeconds: Number(limits.idle_timeout / NS_PER_SECOND),
      drainMs: Number(limits.drain / NS_PER_MS),
      signedFramesPerSecond: limits.signed_frames_per_second,
      subscriptionChangesPerSecond: limits.subscription_changes_per_second,
      publishBytesPerSecond: limits.publish_bytes_per_second,
      badMessagesPerSecond: limits.bad_messages_per_second,
      badSignaturesPerSecond: limits.bad_signatures_per_second,
      failedLoginsPerMinute: limits.failed_logins_per_minute,
    },
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
      publisherKeys: new Set(token.publisher_keys.map((key) => canonicalKey(parseHex(key, 32)!))),
    }),
    assets: new Set(token.assets),
  };
}

function toAsset(asset: ConfigFile['assets'][number], index: number): Asset {
  return {
    index: index as AssetIndex,
    id: asset.id,
    symbol: asset.symbol,
    signatureType: asset.signature_type,
    aggregation: asset.aggregation,
    minPublishers: asset.min_publishers,
    maxAgeNs: asset.max_age,
    clockPeriodNs: asset.clock_period,
    delta: asset.delta_percent,
    maxDeviation: asset.max_deviation_percent,
    calendar: asset.calendar,
  };
}

function toPublisher(publisher: ConfigFile['publishers'][number], index: number): ListedPublisher {
  return {
    index: index as PublisherIndex,
    signatureType: publisher.signature_type,
    key: parsePublisherKey(publisher.key, publisher.signature_type)!,
    oracleId: publisher.oracle_id,
    assets: new Set(publisher.assets),
    weight: publisher.weight,
  };
}

function textOf(section: unknown): string {
  return JSON.stringify(section, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));
}
