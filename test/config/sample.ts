import { stringify } from 'yaml';

/** Returns a file with real values that uses all keys of the configuration. */
export function sampleFile() {
  return {
    service: { name: 'service', taxonomy_id: 1, oracle_id: 'servc', encoded_asset_id: 'base64' },
    listen: {
      host: '127.0.0.1',
      port: 8080,
      tls: { cert_file: 'cert.pem', key_file: 'key.pem' },
      threads: 'auto',
      ping_interval: '20s',
      trusted_proxies: [],
      allowed_origins: [],
      page_operators: [],
    },
    admin: { host: '127.0.0.1', port: 9090, allowed_hosts: [] },
    keys: { evm: { file: 'keys/evm.hex' }, stark: { env: 'STARK_KEY' } },
    tokens: [
      {
        name: 'alice',
        sha256: 'ab'.repeat(32),
        scopes: ['rest', 'stream', 'publish'],
        requests_per_second: 5,
        publisher_keys: [TOKEN_PUBLISHER_KEY],
        assets: ['*'],
      },
    ],
    assets: [
      {
        id: 1,
        symbol: 'BTCUSD',
        signature_type: 'evm',
        aggregation: 'median',
        min_publishers: 1,
        max_age: '60s',
        clock_period: '500ms',
        delta_percent: 0.1,
        max_deviation_percent: 5,
        calendar: 'none',
      },
      { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', calendar: 'tokyo' },
      { id: 3, symbol: 'ETHUSD' },
    ],
    publishers: [
      { key: EVM_PUBLISHER_KEY, signature_type: 'evm', oracle_id: 'czowx', assets: ['*'], weight: 1 },
      {
        key: STARK_PUBLISHER_KEY,
        signature_type: 'stark',
        oracle_id: 'czowx',
        assets: ['*'],
        weight: 0.25,
      },
      { key: TOKEN_PUBLISHER_KEY, assets: ['*'] },
    ],
    ingest: { max_past: '60s', max_future: '2s', max_backward: '2s' },
    storage: { dir: './data', candle_retention: '3650d', reserve: '16 MiB' },
    deployments: [
      {
        chain_id: 1,
        network: 'ethereum',
        environment: 'mainnet',
        proxy_address: EVM_PUBLISHER_KEY,
        block_explorer_url: 'https://explorer.example/address',
      },
    ],
    pushed_assets: { ethereum: { mainnet: { ETHUSD: { delta: 0.5, staleness: 3600 } } } },
    calendars: {
      tokyo: {
        time_zone: 'Asia/Tokyo',
        sessions: [{ days: ['mon'], from: '09:00', to: '15:30', status: 'regular' }],
        closures: ['2025-01-01'],
        early_closes: { '2025-01-06': '12:00' },
        late_opens: { '2025-01-13': '10:00' },
        known_until: '2099-12-31',
      },
    },
    limits: {
      assets_per_request: 100,
      candles_per_request: 50_000,
      range_rows: 100_000,
      subscriptions_per_connection: 1000,
      stream_connections: 10_000,
      connections_per_address: 1000,
      connections_per_token: 100,
      publish_connections_per_token: 16,
      client_message_bytes: '64 KiB',
      publish_message_bytes: '1 MiB',
      updates_per_message: 1000,
      trace_id_characters: 256,
      control_messages_per_second: 10,
      slow_consumer: '10s',
      idle_timeout: '60s',
      drain: '3s',
      signed_frames_per_second: 10_000,
      subscription_changes_per_second: 100_000,
      publish_bytes_per_second: '8 MiB',
      bad_messages_per_second: 100,
      bad_signatures_per_second: 2000,
      delta_aggregates_per_second: 20,
      failed_logins_per_minute: 300,
      refused_requests_per_minute: 3000,
    },
  };
}

/** Returns the sample as YAML with `value` at `path`. If `value` is `undefined`, that key is left out. */
export function sampleWith(path: readonly (string | number)[], value: unknown): string {
  const file = sampleFile();
  let parent: Record<string | number, unknown> = file;
  for (const step of path.slice(0, -1)) parent = parent[step] as typeof parent;
  if (value === undefined) delete parent[path.at(-1)!];
  else parent[path.at(-1)!] = value;
  return stringify(file);
}

/** The public keys of two recorded prices. The EVM key is in the mixed case of EIP-55. */
export const EVM_PUBLISHER_KEY = '0x99e295e85cb07C16B7BB62A44dF532A7F2620237';
export const STARK_PUBLISHER_KEY = '0x418d3fd8219a2cf32a00d458f61802d17f01c5bcde5a4f82008ee4a7c8e9a06';
/** Another public key. The sample's token may publish for this key. */
export const TOKEN_PUBLISHER_KEY = '0x00cdCDCDCDcdcDcDcDCDCDCDCDCdcDCdcdCDCDCd';
