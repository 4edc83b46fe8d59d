import { z } from 'zod';
import { calendarDefinition } from '../model/calendar/definition.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { AGGREGATION_TYPES } from '../wire/algorithms.js';
import { UINT16_MAX } from '../wire/asset_id.js';
import { LOGIN_SYMBOL } from '../wire/login_message.js';
import { TRACE_ID_LENGTH_MAX } from '../wire/publish_message.js';
import { DEFAULT_SERVICE_NAME, SERVICE_NAME_PATTERN } from '../wire/service_name.js';
import { ORACLE_ID_LENGTH } from '../wire/signatures.js';
import { allowedOrigin, operatorOrigin } from './allowed_origin.js';
import { clusterSchema } from './cluster_schema.js';
import { configFormat } from './config_format.js';
import { logSchema } from './log_section.js';
import { publicUrl } from './public_url.js';
import {
  addressBlocks,
  anySizeBytes,
  count,
  durationNs,
  host,
  keySource,
  line,
  positiveDecimal,
  signatureType,
  signingKeys,
  sizeBytes,
  symbol,
} from './schema_values.js';

// The schema of the configuration file, with the key names of the file. Each `prefault` is the key's default, in the form of the
// file. A key without `prefault` and without `optional` is required. references.ts checks the rules that involve two keys.

const uint16 = z.int().min(0).max(UINT16_MAX);
const oracleId = z
  .string()
  .regex(
    new RegExp(`^[\\x20-\\x7e]{${ORACLE_ID_LENGTH}}$`),
    `expected exactly ${ORACLE_ID_LENGTH} ASCII characters`,
  );
const hexText = z.string().regex(/^0x[0-9a-fA-F]+$/, 'expected 0x and hex digits');
const publisherKeyText = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/, 'expected 0x and 1 to 64 hex digits');

/** The schema of a text that pages show beside a symbol. */
const shownText = z
  .string()
  .regex(
    /^[^\s\p{C}](?:[^\p{C}]{0,62}[^\s\p{C}])?$/u,
    'expected 1 to 64 characters without control characters and outer spaces',
  );
const symbolList = z
  .array(
    z.union([z.literal('*'), symbol], {
      error: 'expected a symbol or "*"; # and a number is a streaming ID',
    }),
  )
  .min(1)
  .prefault(['*']);

/** The name of a token. The name is also a label in logs and metrics. */
export const tokenName = z
  .string()
  .regex(/^[^\p{C}]{1,64}$/u, 'expected a name of 1 to 64 characters without control characters');

const service = z.strictObject({
  name: z
    .string()
    .regex(new RegExp(`^${SERVICE_NAME_PATTERN}$`), 'expected a word of lower-case letters, digits and _')
    .prefault(DEFAULT_SERVICE_NAME),
  taxonomy_id: uint16.prefault(1),
  oracle_id: oracleId.prefault('servc'),
  encoded_asset_id: z.enum(['base64', 'keccak256']).prefault('base64'),
  public_url: publicUrl.optional(),
});

/** The largest number of threads. One main thread cannot feed this many threads. */
const LISTEN_THREADS_MAX = 256;

/** The largest number of other operators in a quorum. Each file of the live page has a header with their origins. */
const PAGE_OPERATORS_MAX = 15;

const listen = z.strictObject({
  host: host.prefault('127.0.0.1'),
  /** The port. With 0 the system chooses a free port. */
  port: uint16.prefault(8080),
  tls: z.strictObject({ cert_file: line, key_file: line }).optional(),
  /** The number of threads that serve the sockets. `auto` means the number in `service/edge/threads/thread_plan.ts`. */
  threads: z
    .union([z.literal('auto'), z.int().min(1).max(LISTEN_THREADS_MAX)], {
      error: `expected auto or a number from 1 to ${LISTEN_THREADS_MAX}`,
    })
    .prefault('auto'),
  /** The silence after which the service pings a WebSocket. The interval of checks is a second. */
  ping_interval: durationNs({
    minNs: NS_PER_SECOND,
    maxNs: 300n * NS_PER_SECOND,
    stepNs: NS_PER_SECOND,
  }).prefault('20s'),
  /** The proxies whose header `X-Forwarded-For` names the client. */
  trusted_proxies: addressBlocks,
  /** The origins whose web pages may read REST and open streams. */
  allowed_origins: z.array(allowedOrigin, { error: 'expected a list of origins' }).prefault([]),
  /** The origins of other operators' services to which the live page may connect. */
  page_operators: z
    .array(operatorOrigin, { error: 'expected a list of origins' })
    .max(PAGE_OPERATORS_MAX)
    .prefault([]),
  /** The public token of the live page: everybody who opens the page reads prices with it. */
  page_token: line.optional(),
});

const admin = z.strictObject({
  host: host.prefault('127.0.0.1'),
  port: uint16.prefault(9090),
  /** The host names that requests may name beside IP addresses, `localhost` and `host`. */
  allowed_hosts: z.array(host, { error: 'expected a list of host names' }).prefault([]),
});

const keys = z.strictObject({
  /** The signing keys, or several keys with their times. Only an edge of a cluster may omit the EVM key. */
  ...signingKeys,
  /** The Ed25519 key of the public log of signed prices. This key turns the log on. */
  log: keySource.optional(),
  /** The Ed25519 key of this node's public log of streaming payloads. This key turns that log on. */
  stream_log: keySource.optional(),
  /** The file with the announcements of these keys, which readers follow. */
  announcements: line.optional(),
});

const token = z.strictObject({
  name: tokenName,
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'expected the 64 hex digits of a SHA-256, as tickseal token prints them'),
  /** The scopes. The key is required, because the rights of a token have no default. */
  scopes: z.array(z.enum(['rest', 'stream', 'publish'])).min(1),
  requests_per_second: z.int().min(1).max(1_000_000).prefault(5),
  publisher_keys: z.array(publisherKeyText).min(1).optional(),
  assets: symbolList,
});

const asset = z.strictObject({
  id: uint16,
  symbol: symbol.refine(
    (text) => text !== LOGIN_SYMBOL,
    `expected another symbol: ${LOGIN_SYMBOL} is reserved for logins by signature`,
  ),
  signature_type: signatureType,
  aggregation: z.enum(AGGREGATION_TYPES).prefault('median'),
  min_publishers: z.int().min(1).max(65_535).prefault(1),
  max_age: durationNs({ minNs: NS_PER_MS }).prefault('60s'),
  clock_period: durationNs({ minNs: NS_PER_MS, maxNs: 86_400n * NS_PER_SECOND, stepNs: NS_PER_MS }).prefault(
    '500ms',
  ),
  delta_percent: positiveDecimal().prefault(0.1),
  max_deviation_percent: positiveDecimal().optional(),
  frozen_after: durationNs({ minNs: 0n }).optional(),
  calendar: line.prefault('none'),
  /** The name for people, and the kind of asset. Pages and answers show both, and `aggregation.classes` names kinds. */
  name: shownText.optional(),
  class: shownText.optional(),
});

/** The time after which a publisher whose price stands still no longer counts; 0 for never. */
const aggregation = z.strictObject({
  frozen_after: durationNs({ minNs: 0n }).prefault('0s'),
  /** The smallest move, in millionths of the price. */
  frozen_ppm: count(10, 1_000_000),
  /** The time for the assets of a class. */
  classes: z.record(line, z.strictObject({ frozen_after: durationNs({ minNs: 0n }) })).prefault({}),
});

const publisher = z.strictObject({
  key: hexText,
  signature_type: signatureType,
  oracle_id: z
    .string()
    .regex(/^[\x20-\x7e]{1,64}$/, 'expected 1 to 64 ASCII characters')
    .optional(),
  assets: symbolList,
  weight: positiveDecimal().prefault(1),
});

const ingest = z.strictObject({
  max_past: durationNs({ minNs: NS_PER_MS }).prefault('60s'),
  max_future: durationNs({ minNs: 0n }).prefault('2s'),
  /** The period for which the service keeps `msg_hash` values, in memory and in each stored input. */
  max_backward: durationNs({ minNs: 0n, maxNs: 60n * NS_PER_SECOND }).prefault('2s'),
  login_max_past: durationNs({ minNs: NS_PER_SECOND }).prefault('30s'),
  login_max_future: durationNs({ minNs: 0n }).prefault('2s'),
});

/** The largest reserve. The data of a service are far smaller. */
const RESERVE_BYTES_MAX = 1024 ** 4;

/** The largest limit of the past: a petabyte. */
const PAST_BYTES_MAX = 1024 ** 5;

const past = z
  .strictObject({
    proofs: durationNs({ minNs: 0n }).prefault('7d'),
    signatures: durationNs({ minNs: 0n }).prefault('90d'),
    max_bytes: anySizeBytes(PAST_BYTES_MAX).optional(),
  })
  .refine(({ proofs, signatures }) => proofs <= signatures, {
    path: ['proofs'],
    error: 'is longer than signatures: an aggregate cannot lose its signature before its proof',
  });

const storage = z.strictObject({
  dir: line.prefault('./data'),
  candle_retention: durationNs({ minNs: NS_PER_SECOND }).prefault('3650d'),
  reserve: sizeBytes('16 MiB', RESERVE_BYTES_MAX),
  past: past.prefault({}),
});

const deployment = z.strictObject({
  chain_id: z.int().min(1),
  network: line,
  environment: line,
  proxy_address: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'expected an address: 0x and 40 hex digits'),
  block_explorer_url: z.url({ protocol: /^https?$/, error: 'expected an http or https URL' }),
});

/**
 * A pushed asset, with `delta` in percent and `staleness` in seconds. `/v0/deployments/service_pushed_assets` lists the asset unchanged.
 */
const pushedAsset = z.strictObject({ delta: z.number().min(0), staleness: z.number().min(0) });

const calendarName = z
  .string()
  .regex(/^(?!none$)[A-Za-z][A-Za-z0-9_]*$/, 'expected a name of letters, digits and _, other than none');

/** The largest configurable rate. One machine cannot read this many bytes. */
const BYTES_PER_SECOND_MAX = 64 * 1024 ** 3;

const limits = z.strictObject({
  assets_per_request: count(100),
  candles_per_request: count(50_000),
  range_rows: count(100_000),
  /** The number of assets. IDs have the type uint16, so a set cannot be larger. */
  subscriptions_per_connection: count(1000, UINT16_MAX + 1),
  stream_connections: count(10_000),
  connections_per_address: count(1000),
  connections_per_token: count(100),
  publish_connections_per_token: count(16),
  client_message_bytes: sizeBytes('64 KiB'),
  publish_message_bytes: sizeBytes('1 MiB'),
  updates_per_message: count(1000, 65_536),
  trace_id_characters: count(TRACE_ID_LENGTH_MAX, TRACE_ID_LENGTH_MAX),
  control_messages_per_second: count(10),
  slow_consumer: durationNs({ minNs: NS_PER_MS, maxNs: 3600n * NS_PER_SECOND, stepNs: NS_PER_MS }).prefault(
    '10s',
  ),
  /** The range that uWebSockets.js accepts. uWebSockets.js counts in whole seconds. */
  idle_timeout: durationNs({
    minNs: 8n * NS_PER_SECOND,
    maxNs: 960n * NS_PER_SECOND,
    stepNs: NS_PER_SECOND,
  }).prefault('60s'),
  drain: durationNs({ minNs: 0n, maxNs: 600n * NS_PER_SECOND, stepNs: NS_PER_MS }).prefault('3s'),
  signed_frames_per_second: count(10_000),
  subscription_changes_per_second: count(100_000),
  range_rows_per_second: count(50_000),
  publish_bytes_per_second: sizeBytes('8 MiB', BYTES_PER_SECOND_MAX),
  bad_messages_per_second: count(100),
  bad_signatures_per_second: count(2000),
  delta_aggregates_per_second: count(20, 1_000_000),
  failed_logins_per_minute: count(300),
  refused_requests_per_minute: count(3000),
});

export const fileSchema = z.strictObject({
  format: configFormat,
  service: service.prefault({}),
  listen: listen.prefault({}),
  admin: admin.prefault({}),
  keys: keys.prefault({}),
  tokens: z.array(token).prefault([]),
  assets: z.array(asset).prefault([]),
  aggregation: aggregation.prefault({}),
  publishers: z.array(publisher).prefault([]),
  ingest: ingest.prefault({}),
  storage: storage.prefault({}),
  deployments: z.array(deployment).prefault([]),
  pushed_assets: z.record(line, z.record(line, z.record(line, pushedAsset))).prefault({}),
  calendars: z.record(calendarName, calendarDefinition).prefault({}),
  limits: limits.prefault({}),
  log: logSchema.prefault({}),
  cluster: clusterSchema.optional(),
});

/**
 * The type of a file that fits the schema, with the names of the file. Durations are bigints in nanoseconds, and sizes and decimals are
 * converted too.
 */
export type ConfigFile = z.output<typeof fileSchema>;
