import { stringify } from 'yaml';

/** The public keys of two recorded prices. The EVM key is in the mixed case of EIP-55. */
export const EVM_PUBLISHER_KEY = '0x99e295e85cb07C16B7BB62A44dF532A7F2620237';
export const STARK_PUBLISHER_KEY = '0x418d3fd8219a2cf32a00d458f61802d17f01c5bcde5a4f82008ee4a7c8e9a06';
/** Another public key. The sample's token may publish for this key. */
export const TOKEN_PUBLISHER_KEY = '0x00cdCDCDCDcdcDcDcDCDCDCDCDCdcDCdcdCDCDCd';

/** Returns a file with every key that has no default. */
export function sampleFile() {
  return {
    service: { taxonomy_id: 1, oracle_id: 'servc' },
    listen: { tls: { cert_file: 'cert.pem', key_file: 'key.pem' } },
    keys: { evm: { file: 'keys/evm.hex' }, stark: { env: 'STARK_KEY' } },
    tokens: [
      {
        name: 'alice',
        sha256: 'ab'.repeat(32),
        scopes: ['rest', 'stream', 'publish'],
        publisher_keys: [TOKEN_PUBLISHER_KEY],
        assets: ['*'],
      },
    ],
    assets: [
      { id: 1, symbol: 'BTCUSD', max_deviation_percent: 5 },
      { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', calendar: 'tokyo' },
      { id: 3, symbol: 'ETHUSD' },
    ],
    publishers: [
      { key: EVM_PUBLISHER_KEY, signature_type: 'evm', oracle_id: 'czowx', assets: ['*'] },
      { key: STARK_PUBLISHER_KEY, signature_type: 'stark', oracle_id: 'czowx', assets: ['*'], weight: 0.25 },
      { key: TOKEN_PUBLISHER_KEY, assets: ['*'] },
    ],
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
  };
}

/** The keys of a cluster that have no default. */
export const CLUSTER = { role: 'aggregator', node: 1, servers: ['nats://127.0.0.1:4222'] };

/**
 * Returns the sample as YAML with `value` at `path`, and makes the lists and mappings above it. If `value` is `undefined`, that
 * key is left out.
 */
export function sampleWith(path: string, value: unknown): string {
  const steps = path.split(/\.|\[(\d+)\]\.?/).filter((step) => step);
  const file = { ...sampleFile(), ...(path.startsWith('cluster') && { cluster: structuredClone(CLUSTER) }) };
  let parent: Record<string, unknown> = file;
  for (const [i, step] of steps.slice(0, -1).entries()) {
    parent[step] ??= /^\d+$/.test(steps[i + 1]!) ? [] : {};
    parent = parent[step] as typeof parent;
  }
  if (value === undefined) delete parent[steps.at(-1)!];
  else parent[steps.at(-1)!] = value;
  return stringify(file);
}
