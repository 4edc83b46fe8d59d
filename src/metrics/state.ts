import { type ClusterState, clusterText } from './cluster_metrics.js';
import type { ReloadState } from './reloads.js';
import { metricText } from './text_format.js';

const DAY_SECONDS = 86_400;

/** What the service says of its own state at the moment of a scrape. */
export interface ServiceState extends ReloadState {
  /** Of the program. */
  readonly version: string;
  readonly secp256k1: string;
  /** SHA-256 of the configuration file in force, in hex. */
  readonly configSha256: string;
  /** Whether `/readyz` answers 200. */
  readonly isReady: boolean;
  /** Whether the clock and the signed times can be trusted. */
  readonly isClockOk: boolean;
  readonly activity: Activity;
  /** Absent where the process is alone. */
  readonly cluster: ClusterState | undefined;
}

export interface StoreState {
  /** Of the data file. */
  readonly bytes: number;
  /** What its file system has left for the service. */
  readonly freeBytes: number;
  /** UNIX milliseconds of the last commit; `undefined` before the first. */
  readonly committedAtMs: number | undefined;
  /** The first day that has candles, in days since 1970. */
  readonly oldestDay: number | undefined;
}

/** What publishers last did. */
export interface Activity {
  readonly assets: readonly AssetActivity[];
  readonly publishers: readonly PublisherActivity[];
}

export interface AssetActivity {
  readonly symbol: string;
  readonly signatureType: string;
  /** How many inputs its price is made of, or would be if there were enough. */
  readonly inputs: number;
  /** UNIX seconds at which the last update was accepted; `undefined` when there was none. */
  readonly updatedAtSeconds: number | undefined;
}

export interface PublisherActivity {
  /** In hex. */
  readonly key: string;
  readonly signatureType: string;
  readonly updatedAtSeconds: number | undefined;
}

/** These metrics in the text format. What has no value has no line. */
export function stateText(state: ServiceState, store: StoreState): string {
  const { version, secp256k1, configSha256, reload, activity } = state;
  const { assets, publishers } = activity;
  return [
    gauge('tickseal_build_info', 'The program, as labels; always 1.', 1, { version, secp256k1 }),
    gauge(
      'tickseal_config_info',
      'The SHA-256 of the configuration file in force, as a label; always 1.',
      1,
      {
        sha256: configSha256,
      },
    ),
    gauge(
      'tickseal_config_last_reload_successful',
      '1 when the last reload put the file in force, else 0; a start counts as one.',
      Number(reload.isOk),
    ),
    gauge('tickseal_config_last_reload_timestamp_seconds', 'When the last reload was.', reload.atSeconds),
    gauge(
      'tickseal_certificate_expiry_timestamp_seconds',
      'When the first certificate of the TLS chain ends.',
      state.certificateEndSeconds,
    ),
    gauge('tickseal_ready', '1 while /readyz answers 200, else 0.', Number(state.isReady)),
    gauge(
      'tickseal_clock_healthy',
      '1 while the clock and the signed times can be trusted, else 0.',
      Number(state.isClockOk),
    ),
    gauge('tickseal_store_bytes', 'The size of the data file.', store.bytes),
    gauge('tickseal_store_free_bytes', 'What the file system of the data folder has left.', store.freeBytes),
    gauge(
      'tickseal_store_last_commit_timestamp_seconds',
      'When records were last written to the disk.',
      store.committedAtMs && store.committedAtMs / 1000,
    ),
    gauge(
      'tickseal_store_oldest_timestamp_seconds',
      'The first day that has candles.',
      store.oldestDay && store.oldestDay * DAY_SECONDS,
    ),
    metricText(
      'tickseal_asset_inputs',
      'gauge',
      'Inputs that count for the price of an asset.',
      assets.map(({ inputs, ...asset }) => ({ labels: assetLabels(asset), value: inputs })),
    ),
    metricText(
      'tickseal_asset_last_update_timestamp_seconds',
      'gauge',
      'When the last update of an asset was accepted.',
      present(assets.map((asset) => [assetLabels(asset), asset.updatedAtSeconds])),
    ),
    metricText(
      'tickseal_publisher_last_update_timestamp_seconds',
      'gauge',
      'When the last update of a publisher was accepted.',
      present(
        publishers.map(({ key, signatureType, updatedAtSeconds }) => [
          { publisher: key, signature_type: signatureType },
          updatedAtSeconds,
        ]),
      ),
    ),
    clusterText(state.cluster),
  ].join('');
}

function assetLabels({ symbol, signatureType }: Pick<AssetActivity, 'symbol' | 'signatureType'>) {
  return { asset: symbol, signature_type: signatureType };
}

function gauge(
  name: string,
  help: string,
  value: number | undefined,
  labels: Readonly<Record<string, string>> = {},
): string {
  return metricText(name, 'gauge', help, present([[labels, value]]));
}

function present(values: readonly (readonly [Readonly<Record<string, string>>, number | undefined])[]) {
  return values.flatMap(([labels, value]) => (value === undefined ? [] : [{ labels, value }]));
}
