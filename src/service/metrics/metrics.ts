import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Counters } from '../../model/counters.js';
import { LATENCY_BOUNDS_S } from '../../model/frame_latency.js';
import { REQUEST_BOUNDS_S } from '../../model/rest_requests.js';
import { type MetricRow, metricsText, type Series } from '../../model/text_format.js';
import { COUNT_METRICS, withFirstLabel } from './count_metrics.js';
import { PUBLIC_LOG_METRICS } from './public_log_metrics.js';
import type { ClusterState, ServiceState, StoreState } from './state.js';

/** The values that the metrics read at each scrape. */
export interface Measured {
  readonly pool: { readonly queued: number; readonly failures: number };
  readonly maker: { readonly updatesWaiting: number };
  readonly store: {
    health(): { readonly ok: boolean };
    readonly recordsWaiting: number;
    figures(): StoreState;
  };
  readonly state: () => ServiceState;
  /** Returns the number of assets in the catalogue, and the number of assets with a live price. */
  assets(): { readonly listed: number; readonly live: number };
  clock(): { readonly jumps: number; readonly jumpSeconds: number; readonly aggregatesAheadSeconds: number };
  edges(): {
    /** The number of threads that serve REST and the sockets. */
    readonly threads: number;
    /** The number of bytes of the feed that wait for the slowest thread. */
    readonly feedBytesWaiting: number;
  };
}

/** The values that one edge reports at a scrape. */
export interface ServingReport {
  /** The number of open WebSockets of all kinds. */
  readonly connections: number;
  readonly streamConnections: number;
  readonly streamGroups: number;
  readonly streamsAheadSeconds: number;
}

/** The values that the whole service reports at a scrape. */
export interface Scrape {
  /** The sum of the counts of all threads. */
  readonly counters: Counters;
  readonly edges: readonly ServingReport[];
  /** The largest delay of a tick on any thread since the last scrape. */
  readonly lateNsMax: bigint;
}

export interface Metrics {
  /** Adds the values that the metrics read at each scrape. The caller must call this once, when the measured parts exist. */
  measure(measured: Measured): void;
  /** Returns all metrics in the Prometheus text format. */
  text(scrape: Scrape): Promise<string>;
}

/** All sources of the metrics, read at each scrape. */
interface Sources extends Scrape, Pick<Measured, 'pool' | 'maker' | 'store'> {
  readonly assets: ReturnType<Measured['assets']>;
  readonly clock: ReturnType<Measured['clock']>;
  readonly listen: ReturnType<Measured['edges']>;
  readonly figures: StoreState;
  readonly state: ServiceState;
}

const DAY_SECONDS = 86_400;
const CLUSTER_ROLES: readonly ClusterState['role'][] = ['leader', 'standby', 'edge'];

/** The metrics of the service, in the order of the output. */
// biome-ignore format: two lines for each metric show them as a table
export const METRICS: readonly MetricRow<Sources>[] = [
  ...COUNT_METRICS,

  // The edges.
  { name: 'tickseal_connections', type: 'gauge', help: 'Open WebSocket connections of all kinds.',
    read: ({ edges }) => sumOver(edges, 'connections') },
  { name: 'tickseal_stream_connections', type: 'gauge', help: 'Open streaming connections.',
    read: ({ edges }) => sumOver(edges, 'streamConnections') },
  { name: 'tickseal_stream_groups', type: 'gauge', help: 'Sets of connections that share their frames.',
    read: ({ edges }) => sumOver(edges, 'streamGroups') },
  { name: 'tickseal_clock_streams_ahead_seconds', type: 'gauge',
    help: 'How far the times of open streams are ahead of the clock at most.',
    read: ({ edges }) => Math.max(0, ...edges.map(({ streamsAheadSeconds }) => streamsAheadSeconds)) },
  { name: 'tickseal_listen_threads', type: 'gauge', help: 'Threads that serve REST and the sockets.',
    read: ({ listen }) => listen.threads },
  { name: 'tickseal_listen_thread_feed_waiting_bytes', type: 'gauge',
    help: 'Bytes of the price feed that the thread furthest behind has yet to take.',
    read: ({ listen }) => listen.feedBytesWaiting },

  // The maker of prices, the clock and the store.
  { name: 'tickseal_updates_waiting', type: 'gauge', help: 'Price updates that wait for their verdict.',
    read: ({ maker }) => maker.updatesWaiting },
  { name: 'tickseal_crypto_jobs_queued', type: 'gauge', help: 'Signatures that wait for a worker.',
    read: ({ pool }) => pool.queued },
  { name: 'tickseal_crypto_worker_failures_total', type: 'counter',
    help: 'Batches that a crypto worker did not answer; each was done again.',
    read: ({ pool }) => pool.failures },
  { name: 'tickseal_assets_live', type: 'gauge', help: 'Assets with a live price.',
    read: ({ assets }) => assets.live },
  { name: 'tickseal_assets_stale', type: 'gauge', help: 'Assets of the catalogue without a live price.',
    read: ({ assets }) => assets.listed - assets.live },
  { name: 'tickseal_clock_jumps_total', type: 'counter',
    help: 'Jumps of the wall clock by more than 1 s, also those that were taken back.',
    read: ({ clock }) => clock.jumps },
  { name: 'tickseal_clock_jump_seconds', type: 'gauge',
    help: 'How far the wall clock is ahead of the clock of the service while a jump of it is not believed; else 0.',
    read: ({ clock }) => clock.jumpSeconds },
  { name: 'tickseal_clock_aggregates_ahead_seconds', type: 'gauge',
    help: 'How far the time of the last signed aggregate is ahead of the clock.',
    read: ({ clock }) => clock.aggregatesAheadSeconds },
  { name: 'tickseal_store_records_waiting', type: 'gauge', help: 'Records that wait for the next commit to the disk.',
    read: ({ store }) => store.recordsWaiting },
  { name: 'tickseal_store_healthy', type: 'gauge', help: '1 while what is accepted reaches the disk, else 0.',
    read: ({ store }) => Number(store.health().ok) },
  { name: 'tickseal_event_loop_delay_max_seconds', type: 'gauge',
    help: 'How late a tick was at most since the last scrape, because the event loop was busy.',
    read: ({ lateNsMax }) => Number(lateNsMax) / 1e9 },

  // Durations.
  { name: 'tickseal_publish_to_frame_seconds', type: 'histogram', bounds: LATENCY_BOUNDS_S,
    help: 'From the receipt of a message with a changed price to the first frame that is handed to sockets afterwards.',
    read: ({ counters }) => counters.frameLatency },
  { name: 'tickseal_rest_requests_total', type: 'counter', labels: ['route', 'status'],
    help: 'REST requests that were answered.',
    read: ({ counters }) => [...counters.restRequests].flatMap(([route, { byStatus }]) => withFirstLabel(route, byStatus)) },
  { name: 'tickseal_rest_request_duration_seconds', type: 'histogram', bounds: REQUEST_BOUNDS_S, labels: ['route'],
    help: 'How long the service took to make the answer to a REST request.',
    read: ({ counters }) => [...counters.restRequests].map(([route, { durations }]) => [route, durations]) },

  // The state of the service.
  { name: 'tickseal_build_info', type: 'gauge', labels: ['version', 'commit', 'secp256k1'],
    help: 'The program, as labels; always 1.',
    read: ({ state }) => [[state.version, state.commit, state.secp256k1, 1]] },
  { name: 'tickseal_config_info', type: 'gauge', labels: ['sha256'],
    help: 'The SHA-256 of the configuration file in force, as a label; always 1.',
    read: ({ state }) => [[state.configSha256, 1]] },
  { name: 'tickseal_config_last_reload_successful', type: 'gauge',
    help: '1 when the last reload put the file in force, else 0; a start counts as one.',
    read: ({ state }) => Number(state.reload.isOk) },
  { name: 'tickseal_config_last_reload_timestamp_seconds', type: 'gauge', help: 'When the last reload was.',
    read: ({ state }) => state.reload.atSeconds },
  { name: 'tickseal_certificate_expiry_timestamp_seconds', type: 'gauge', help: 'When the first certificate of the TLS chain ends.',
    read: ({ state }) => [[state.certificateEndSeconds]] },
  { name: 'tickseal_keys_not_announced', type: 'gauge', help: 'Keys that sign now and that the newest announcement does not allow now.',
    read: ({ state }) => [[state.announced?.unannouncedKeys]] },
  { name: 'tickseal_next_key_not_announced_timestamp_seconds', type: 'gauge',
    help: 'When the first key begins to sign that the newest announcement does not allow then.',
    read: ({ state }) => [[state.announced?.nextUnannounced?.fromSeconds]] },
  { name: 'tickseal_announcement_expiry_timestamp_seconds', type: 'gauge',
    help: 'When the newest announcement of keys expires.',
    read: ({ state }) => [[state.announced?.expiresAtSeconds]] },
  { name: 'tickseal_ready', type: 'gauge', help: '1 while /readyz answers 200, else 0.',
    read: ({ state }) => Number(state.isReady) },
  { name: 'tickseal_clock_healthy', type: 'gauge', help: '1 while the clock and the signed times can be trusted, else 0.',
    read: ({ state }) => Number(state.isClockOk) },
  { name: 'tickseal_store_bytes', type: 'gauge', help: 'The size of the log, the snapshot and the candles.',
    read: ({ figures }) => figures.bytes },
  { name: 'tickseal_log_segment', type: 'gauge', help: 'The segment of the log that has the newest commit.',
    read: ({ figures }) => figures.segment },
  { name: 'tickseal_log_segments_waiting', type: 'gauge',
    help: 'Finished segments of the log that are not in the past, the candles and the snapshot yet.',
    read: ({ figures }) => figures.segmentsWaiting },
  { name: 'tickseal_store_free_bytes', type: 'gauge', help: 'What the file system of the data folder has left.',
    read: ({ figures }) => figures.freeBytes },
  { name: 'tickseal_store_last_commit_timestamp_seconds', type: 'gauge',
    help: 'When records were last written to the disk.',
    read: ({ figures: { committedAtMs } }) => [[committedAtMs && committedAtMs / 1000]] },
  { name: 'tickseal_store_oldest_timestamp_seconds', type: 'gauge', help: 'The first day of the oldest month that has candles.',
    read: ({ figures: { oldestDay } }) => [[oldestDay && oldestDay * DAY_SECONDS]] },
  { name: 'tickseal_past_bytes', type: 'gauge', help: 'The size of all files of the signed past.',
    read: ({ figures }) => figures.past.bytes },
  { name: 'tickseal_past_max_bytes', type: 'gauge', help: 'The size above which the oldest hours of the signed past are removed.',
    read: ({ figures }) => [[figures.past.bytesMax]] },
  { name: 'tickseal_past_files', type: 'gauge', help: 'The files of the signed past.',
    read: ({ figures }) => figures.past.files },
  { name: 'tickseal_past_damage', type: 'gauge', help: 'The damages of the signed past that were found since the start.',
    read: ({ figures }) => figures.past.damage.length },
  { name: 'tickseal_past_oldest_timestamp_seconds', type: 'gauge', help: 'The first hour that has a file of the signed past.',
    read: ({ figures }) => [[figures.past.oldestS]] },
  { name: 'tickseal_asset_inputs', type: 'gauge', labels: ['asset', 'signature_type'],
    help: 'Inputs that count for the price of an asset.',
    read: ({ state }) => state.activity.assets.map((asset) => [asset.symbol, asset.signatureType, asset.inputs]) },
  { name: 'tickseal_publisher_frozen', type: 'gauge', labels: ['asset', 'signature_type', 'publisher'],
    help: '1 for a publisher of an asset whose price stands still, so that its inputs do not count.',
    read: ({ state }) => state.activity.assets.flatMap(({ symbol, signatureType, frozen }) =>
      frozen.map((key): Series => [symbol, signatureType, key, 1])) },
  { name: 'tickseal_asset_last_update_timestamp_seconds', type: 'gauge', labels: ['asset', 'signature_type'],
    help: 'When the last update of an asset was accepted.',
    read: ({ state }) => state.activity.assets.map((asset) => [asset.symbol, asset.signatureType, asset.updatedAtSeconds]) },
  { name: 'tickseal_publisher_last_update_timestamp_seconds', type: 'gauge', labels: ['publisher', 'signature_type'],
    help: 'When the last update of a publisher was accepted.',
    read: ({ state }) => state.activity.publishers.map((one) => [one.key, one.signatureType, one.updatedAtSeconds]) },

  // The cluster. A process without a cluster has none of these metrics.
  { name: 'tickseal_cluster_role', type: 'gauge', labels: ['role'], help: '1 for the role that the node has, else 0.',
    read: ({ state: { cluster } }) => cluster && CLUSTER_ROLES.map((role) => [role, Number(role === cluster.role)]) },
  { name: 'tickseal_cluster_epoch', type: 'gauge', help: 'The newest epoch that the node knows.',
    read: ({ state }) => state.cluster?.epoch },
  { name: 'tickseal_cluster_log_lag_records', type: 'gauge',
    help: 'Records of the log that the node knows of and has not applied.',
    read: ({ state }) => state.cluster?.logLagRecords },
  { name: 'tickseal_cluster_log_lag_seconds', type: 'gauge', help: 'Time without an applied record while there are some.',
    read: ({ state }) => state.cluster?.logLagSeconds },
  { name: 'tickseal_cluster_ticks_silent_seconds', type: 'gauge', help: 'Time without a price of the leader; 0 there.',
    read: ({ state }) => state.cluster?.ticksSilentSeconds },
  { name: 'tickseal_cluster_tick_gaps_total', type: 'counter', help: 'Times that prices of the leader were missing.',
    read: ({ state }) => state.cluster?.tickGaps },
  { name: 'tickseal_cluster_refused_writes_total', type: 'counter',
    help: 'Writes to the log that were refused, or of which nobody knew what became.',
    read: ({ state }) => state.cluster?.refusedWrites },
  { name: 'tickseal_cluster_refused_messages_total', type: 'counter',
    help: 'Messages that were ignored, because no honest node or server sends them.',
    read: ({ state }) => state.cluster?.refusedMessages },
  { name: 'tickseal_cluster_skipped_records_total', type: 'counter',
    help: 'Records of the log that had no effect, because no leader wrote them or they are damaged.',
    read: ({ state }) => state.cluster?.skippedRecords },
  { name: 'tickseal_cluster_standbys', type: 'gauge', help: 'Aggregators that could take over.',
    read: ({ state }) => state.cluster?.standbys },
  { name: 'tickseal_cluster_nodes', type: 'gauge', help: 'Nodes that report themselves.',
    read: ({ state }) => state.cluster?.nodes },
  { name: 'tickseal_cluster_log_copies', type: 'gauge', help: 'Servers that have a whole copy of the log.',
    read: ({ state }) => state.cluster?.logCopies },
  { name: 'tickseal_cluster_forgetful_servers', type: 'gauge',
    help: 'Servers that may lose acknowledged records in a power cut, or do not answer.',
    read: ({ state }) => state.cluster?.forgetfulServers },
  ...PUBLIC_LOG_METRICS,
];

/** A time in ms that is longer than any process runs. */
const NEVER_MS = 2 ** 31 - 1;

export function createMetrics(): Metrics {
  const registry = new Registry();
  // prom-client provides the metrics that every Node process has: memory, descriptors and garbage collection. The code turns
  // prom-client's event-loop measurement off, because this measurement would wake an idle process 100 times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const { name } of registry.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag_')) registry.removeSingleMetric(name);
  let measured: Measured | undefined;
  return {
    measure(parts) {
      measured = parts;
    },
    async text(scrape) {
      const ofProcess = await registry.metrics();
      return measured === undefined
        ? ofProcess
        : `${ofProcess.trimEnd()}\n\n${serviceText(scrape, measured)}`;
    },
  };
}

function serviceText(scrape: Scrape, measured: Measured): string {
  const { pool, maker, store } = measured;
  return metricsText(METRICS, {
    ...scrape,
    pool,
    maker,
    store,
    assets: measured.assets(),
    clock: measured.clock(),
    listen: measured.edges(),
    figures: store.figures(),
    state: measured.state(),
  });
}

function sumOver(edges: readonly ServingReport[], name: keyof ServingReport): number {
  return edges.reduce((total, edge) => total + edge[name], 0);
}
