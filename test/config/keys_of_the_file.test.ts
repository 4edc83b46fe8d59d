import { test } from 'tap';
import { stringify } from 'yaml';
import { parseConfig } from '../../src/config/load.js';
import { EVM_PUBLISHER_KEY, STARK_PUBLISHER_KEY, sampleFile, sampleWith } from './sample.js';

const FIELD_PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
const hex = (value: bigint) => `0x${value.toString(16)}`;
/** Words that only the schema's library and its types use. No error may contain them. */
const LIBRARY_WORDS =
  /Invalid|Too (?:small|big)|received|something else|undefined|null|NaN| (?:int|string|object|record|array|regex|url)\b/;
const WRONG_CHECKSUM = EVM_PUBLISHER_KEY.replace('C', 'c');
const counts = { right: [1, 1000], wrong: [0, -1, 1.5, '5', null] };
const ports = { right: [0, 1, 65_535], wrong: [-1, 65_536, '80', 1.5] };
const hosts = {
  right: ['x', '::1', '0.0.0.0', 'a-b.example', 'fe80::1%eth0', 'x'.repeat(63)],
  wrong: ['', 'a\nb', 5, null, '0.0.0.0:8080', '[::1]', 'http://x', 'x/', '256.1.1.1', '-x'],
};

/** The limits that are counts. */
const COUNTED = [
  'assets_per_request',
  'candles_per_request',
  'range_rows',
  'range_rows_per_second',
  'stream_connections',
  'connections_per_address',
  'connections_per_token',
  'publish_connections_per_token',
  'updates_per_message',
  'control_messages_per_second',
  'signed_frames_per_second',
  'subscription_changes_per_second',
  'bad_messages_per_second',
  'bad_signatures_per_second',
  'failed_logins_per_minute',
  'refused_requests_per_minute',
];

/**
 * Cases: a path in the sample, values that must be accepted, and values that must be refused. `undefined` removes the key.
 */
const cases: [string, { right: readonly unknown[]; wrong: readonly unknown[] }][] = [
  ['service', { right: [undefined, {}], wrong: [null, [], 'x'] }],
  ['service.name', { right: [undefined, 'acme_2'], wrong: ['', 'Acme', 'a-b', 5] }],
  ['service.taxonomy_id', { right: [undefined, 0, 65_535], wrong: [-1, 65_536, 1.5, '1'] }],
  ['service.oracle_id', { right: [undefined, 'a b-1'], wrong: ['abcd', 'abcdef', 'abcdé', 12_345] }],
  ['service.encoded_asset_id', { right: [undefined, 'base64', 'keccak256'], wrong: ['hex', '', null] }],
  ['listen', { right: [undefined, {}], wrong: [8080, null] }],
  ['listen.host', { ...hosts, right: [undefined, ...hosts.right] }],
  ['listen.port', { ...ports, right: [undefined, ...ports.right] }],
  ['listen.tls', { right: [undefined], wrong: [true, null] }],
  ['listen.tls.cert_file', { right: ['a/b.pem'], wrong: ['', undefined, 5] }],
  ['listen.tls.key_file', { right: ['a/b.pem'], wrong: ['', undefined, 5] }],
  ['listen.threads', { right: [undefined, 'auto', 1, 256], wrong: [0, 257, 1.5, '2', 'all', null] }],
  [
    'listen.trusted_proxies',
    { right: [undefined, [], ['10.0.0.0/8', '::1']], wrong: [{}, '10.0.0.0/8', null] },
  ],
  [
    'listen.trusted_proxies[0]',
    { right: ['127.0.0.1', 'fd00::/8', '0.0.0.0/0'], wrong: ['', '10.0.0.0/33', 'localhost', '10.0.0', 5] },
  ],
  [
    'listen.allowed_origins',
    { right: [undefined, [], ['*'], ['https://a.example']], wrong: [{}, '*', null] },
  ],
  [
    'listen.page_operators',
    { right: [undefined, [], ['https://b.example']], wrong: [{}, 'https://b.example', null] },
  ],
  ['listen.page_token', { right: [undefined], wrong: ['', 'of no entry', 5, null] }],
  [
    'listen.page_operators[0]',
    {
      right: ['https://b.example', 'http://127.0.0.1:8081'],
      wrong: ['', '*', 'b.example', 'https://b.example/', 'https://*.example', "https://b'example"],
    },
  ],
  [
    'listen.allowed_origins[0]',
    {
      right: [
        '*',
        'http://localhost:3000',
        'http://[::1]:8080',
        'https://*.a.example',
        'null',
        'tauri://localhost',
      ],
      wrong: [
        '',
        'a.example',
        'https://a.example/',
        'https://A.example',
        'https://*.example',
        'wss://a.example',
        5,
      ],
    },
  ],
  ['listen.ping_interval', { right: [undefined, '1s', '300s'], wrong: ['0s', '301s', '1500ms', 20] }],
  ['admin', { right: [undefined, {}], wrong: [9090] }],
  ['admin.host', { ...hosts, right: [undefined, ...hosts.right] }],
  ['admin.port', { ...ports, right: [undefined, ...ports.right], wrong: [...ports.wrong, 8080] }],
  ['admin.allowed_hosts', { right: [undefined, [], ['a.internal']], wrong: [{}, 'a.internal', null] }],
  ['admin.allowed_hosts[0]', { right: ['a.internal'], wrong: ['', 'a.internal:9090', '*', 5] }],
  [
    'keys.evm',
    { right: [{ env: 'K' }, { file: 'k' }], wrong: [undefined, {}, { file: 'k', env: 'K' }, 'k'] },
  ],
  ['keys.evm.file', { right: ['/etc/k'], wrong: ['', 5] }],
  ['keys.stark.env', { right: ['_K1'], wrong: ['', '1K', 'A B', 5] }],
  ['keys.stark', { right: [{ file: 'k' }], wrong: [undefined, {}, 5] }],
  ['tokens', { right: [undefined, []], wrong: [{}, null] }],
  ['tokens[0].name', { right: ["Bob's", 'é'], wrong: [undefined, '', 'a\tb', 'x'.repeat(65), 5] }],
  [
    'tokens[0].sha256',
    { right: ['AB'.repeat(32)], wrong: [undefined, '', 'ab'.repeat(31), `0x${'ab'.repeat(32)}`] },
  ],
  ['tokens[0].scopes', { right: [['rest'], ['rest', 'rest']], wrong: [undefined, [], 'rest', null] }],
  ['tokens[0].scopes[0]', { right: ['stream'], wrong: ['admin', 5] }],
  ['tokens[0].requests_per_second', { right: [undefined, 1, 1_000_000], wrong: [0, 1.5, '5'] }],
  ['tokens[0].publisher_keys', { right: [undefined, [hex(BigInt(STARK_PUBLISHER_KEY))]], wrong: [[], 'x'] }],
  [
    'tokens[0].publisher_keys[0]',
    {
      right: [EVM_PUBLISHER_KEY, EVM_PUBLISHER_KEY.toLowerCase(), '0x99'],
      wrong: ['', '99', '0xzz', hex(2n ** 300n), WRONG_CHECKSUM],
    },
  ],
  ['tokens[0].assets', { right: [undefined, ['*'], ['BTCUSD', 'DYDXUSD']], wrong: [[], '*', null] }],
  ['tokens[0].assets[0]', { right: ['BTCUSD', 'ETHUSD', '*'], wrong: ['', 'a b', 5, 'XRPUSD'] }],
  ['assets[1].id', { right: [0, 65_535], wrong: [undefined, -1, 65_536, 1.5, '1', 1] }],
  [
    'assets[0].symbol',
    {
      right: ['POSITIVE_ASSET_1', 'BTC/USD', 'a.b:c-d', '^GSPC', '1000PEPE', '€', 'x'.repeat(64)],
      wrong: [
        undefined,
        '',
        '*',
        'A,B',
        'A B',
        'A\u0000',
        'A"',
        'A\\',
        '__proto__',
        'x'.repeat(65),
        'STORKAUTH',
      ],
    },
  ],
  ['assets[1].symbol', { right: ['X'.repeat(26), 'BTCUSD'], wrong: ['X'.repeat(27), '€USD'] }],
  ['assets[0].signature_type', { right: [undefined, 'stark'], wrong: ['EVM', '', null] }],
  [
    'assets[0].aggregation',
    { right: [undefined, 'average', 'weighted average'], wrong: ['mean', 'weighted_average'] },
  ],
  ['assets[0].min_publishers', { ...counts, right: [undefined, ...counts.right] }],
  ['assets[0].max_age', { right: [undefined, '1ms', '3650d'], wrong: [60, '60', '0s', '1us', '1 s'] }],
  [
    'assets[0].clock_period',
    { right: [undefined, '1ms', '24h'], wrong: ['0ms', '999us', '1500us', '25h', 500] },
  ],
  [
    'assets[0].delta_percent',
    { right: [undefined, 0.000001, 1_000_000], wrong: [0, -1, 0.0000001, 1.2345678, '1'] },
  ],
  ['assets[0].max_deviation_percent', { right: [undefined, 0.5, 200], wrong: [0, -1, 1_000_001, null] }],
  [
    'assets[0].calendar',
    { right: [undefined, 'us_equities', 'forex', 'metals', 'tokyo'], wrong: ['nyse', '', 5] },
  ],
  [
    'publishers[0].key',
    {
      right: ['0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB', `0x${'AB'.repeat(20)}`],
      wrong: ['', '0x99', `0x${'00'.repeat(20)}`, 'ab'.repeat(20), WRONG_CHECKSUM],
    },
  ],
  [
    'publishers[1].key',
    {
      right: ['0x1', `0x0${STARK_PUBLISHER_KEY.slice(2)}`, hex(FIELD_PRIME - 1n)],
      wrong: ['0x0', hex(FIELD_PRIME), hex(2n ** 256n), '0x', 5],
    },
  ],
  ['publishers[0].oracle_id', { right: [undefined, 'acme'], wrong: ['', 'é', 5] }],
  ['publishers[1].oracle_id', { right: [undefined, 'acme1'], wrong: ['acme', 'acme12', 'acmé1'] }],
  ['publishers[0].signature_type', { right: [undefined], wrong: ['ecdsa', null] }],
  ['publishers[0].assets', { right: [undefined, ['BTCUSD']], wrong: [[], '*'] }],
  ['publishers[0].assets[0]', { right: ['BTCUSD', 'ETHUSD'], wrong: ['', 'a b', 'XRPUSD'] }],
  ['publishers[0].weight', { right: [undefined, 0.5, 3], wrong: [0, -1, 0.1234567, '1'] }],
  ['ingest.max_past', { right: [undefined, '1ms', '36500d'], wrong: ['0s', 60] }],
  ['ingest.max_future', { right: [undefined, '0s', '5m'], wrong: ['-1s', 2] }],
  ['ingest.max_backward', { right: [undefined, 0, '0s', '60s'], wrong: ['-1s', '0', '61s', 2] }],
  ['storage.dir', { right: [undefined, '/var/lib/x'], wrong: ['', 5] }],
  ['storage.candle_retention', { right: [undefined, '1d'], wrong: ['0d', 3650] }],
  ['storage.reserve', { right: [undefined, 1_048_576, '1 GiB'], wrong: ['0', '16 MB', '2048 GiB'] }],
  ['deployments[0].chain_id', { right: [42_161], wrong: [undefined, 0, '1'] }],
  ['deployments[0].network', { right: ['x'], wrong: [undefined, ''] }],
  ['deployments[0].environment', { right: ['x'], wrong: [undefined, ''] }],
  [
    'deployments[0].proxy_address',
    { right: [`0x${'0a'.repeat(20)}`], wrong: [undefined, '0x0a', 'x', WRONG_CHECKSUM] },
  ],
  [
    'deployments[0].block_explorer_url',
    { right: ['http://a.b'], wrong: [undefined, 'a.b', 'javascript:1', ''] },
  ],
  ['pushed_assets', { right: [undefined, {}], wrong: [[], null] }],
  ['pushed_assets.ethereum.mainnet.ETHUSD.delta', { right: [0, 1.25], wrong: [undefined, -1, '1'] }],
  ['pushed_assets.ethereum.mainnet.ETHUSD.staleness', { right: [0, 0.5], wrong: [undefined, -1, '1s'] }],
  ['calendars.tokyo.closures', { right: [undefined, []], wrong: ['2025-01-01', null] }],
  ['calendars.tokyo.closures[0]', { right: ['2024-02-29'], wrong: ['2025-02-29', '1.1.2025'] }],
  ['calendars.tokyo.late_opens', { right: [undefined, {}], wrong: [[], { '2025-01-13': '10' }] }],
  ['calendars.tokyo.known_until', { right: [undefined, '2026-12-31'], wrong: ['2026', 5] }],
  ['calendars.tokyo.sessions[0].since', { right: [undefined], wrong: ['2025-02-29', 5] }],
  ['calendars.none', { right: [], wrong: [{}] }],
  ...COUNTED.map((name) => [`limits.${name}`, counts] as [string, typeof counts]),
  ['limits.subscriptions_per_connection', { right: [65_536], wrong: [...counts.wrong, 65_537] }],
  [
    'limits.client_message_bytes',
    { right: [undefined, 64, '1 KiB', '64 MiB'], wrong: [63, '65 MiB', '1 KB', 1.5] },
  ],
  ['limits.publish_message_bytes', { right: [undefined, '64'], wrong: ['', 0, null] }],
  ['limits.trace_id_characters', { right: [undefined, 1, 256], wrong: [...counts.wrong, 257] }],
  ['limits.slow_consumer', { right: [undefined, '1ms', '1h'], wrong: ['0s', '61m', '1500us', 10] }],
  ['limits.idle_timeout', { right: [undefined, '8s', '960s'], wrong: ['7s', '961s', '8500ms', 60] }],
  ['limits.drain', { right: [undefined, '0s', '1ms', '10m'], wrong: ['11m', '1500us', '-1s', 3] }],
  [
    'limits.publish_bytes_per_second',
    { right: [undefined, 64, '1 KiB', '64 GiB'], wrong: [63, '65 GiB', '1 MB', -1, null] },
  ],
  ['limits.delta_aggregates_per_second', { right: [undefined, 1, 1_000_000], wrong: [0, 1_000_001, 1.5] }],
];

test('each key takes its values and refuses others at its place', async (t) => {
  for (const [path, { right, wrong }] of cases) {
    const steps = path.split(/\.|\[(\d+)\]\.?/).filter((step) => step);
    for (const value of right) {
      const result = parseConfig(sampleWith(steps, value), 'c');
      t.same(result.ok ? [] : result.errors, [], `${path} accepts ${JSON.stringify(value)}`);
    }
    for (const value of wrong) {
      const result = parseConfig(sampleWith(steps, value), 'c');
      const errors = result.ok ? [] : result.errors;
      t.ok(
        errors.length > 0 && errors.every((error) => / [^ ]+: .+/.exec(error)?.[0].startsWith(` ${path}`)),
        `${path} refuses ${JSON.stringify(value)} at its place: ${errors.join('; ')}`,
      );
      for (const error of errors) t.notMatch(error, LIBRARY_WORDS);
    }
  }
});

test('unknown keys are errors in every mapping', async (t) => {
  const mappings =
    ',service,listen,listen.tls,admin,keys,keys.evm,tokens[0],assets[0],publishers[0],ingest,storage,deployments[0],calendars.tokyo,limits';
  for (const mapping of [...mappings.split(','), 'pushed_assets.ethereum.mainnet.ETHUSD']) {
    for (const key of ['nope', '__proto__x', 'constructor']) {
      const path = mapping === '' ? key : `${mapping}.${key}`;
      const steps = path.split(/\.|\[(\d+)\]\.?/).filter((step) => step);
      const result = parseConfig(sampleWith(steps, 1), 'c');
      t.match(result.ok ? [] : result.errors.map((error) => error.split(' ').slice(1).join(' ')), [
        `${path}: unknown key`,
      ]);
    }
  }
});

test('the sample is the same with every defaulted section left out', async (t) => {
  const { keys, tokens, assets, publishers, listen, calendars, deployments, pushed_assets } = sampleFile();
  const configOf = (file: object) => {
    const result = parseConfig(stringify(file), 'c');
    return result.ok ? { ...result.config, fileSha256: 'of other text' } : result.errors;
  };
  const short = {
    keys,
    tokens,
    assets,
    publishers,
    calendars,
    deployments,
    pushed_assets,
    listen: { tls: listen.tls },
  };
  t.same(configOf(short), configOf(sampleFile()));
  t.ok(parseConfig(stringify(short), 'c').ok);
});
