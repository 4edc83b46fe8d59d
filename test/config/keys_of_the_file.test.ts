import { test } from 'tap';
import { parseConfig } from '../../src/config/load.js';
import { EVM_PUBLISHER_KEY, STARK_PUBLISHER_KEY, sampleWith } from './sample.js';

const FIELD_PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
const hex = (value: bigint) => `0x${value.toString(16)}`;
/** Words that only the schema's library and its types use. No error may contain them. */
const LIBRARY_WORDS =
  /Invalid|Too (?:small|big)|received|something else|undefined|null|NaN| (?:int|string|object|record|array|regex|url)\b/;
const WRONG_CHECKSUM = EVM_PUBLISHER_KEY.replace('C', 'c');
const counts = [
  [undefined, 1, 1000],
  [0, -1, 1.5, '5', null],
] as const;
const ports = [
  [undefined, 0, 65_535],
  [-1, 65_536, '80', 1.5],
] as const;
const hosts = [
  [undefined, 'a-b.example', '::1', '0.0.0.0', 'fe80::1%eth0', 'x'.repeat(63)],
  ['', 'a\nb', 5, null, '0.0.0.0:8080', '[::1]', 'http://x', 'x/', '256.1.1.1', '-x'],
] as const;
const SERVERS = Array.from({ length: 17 }, (_, n) => `nats://h:${n + 1}`);

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
const cases: (readonly [path: string, right: readonly unknown[], wrong: readonly unknown[]])[] = [
  ['service', [undefined, {}], [null, []]],
  ['service.name', [undefined, 'acme_2'], ['', 'Acme', 'a-b', 5]],
  ['service.taxonomy_id', [0, 65_535], [-1, 65_536, 1.5, '1']],
  ['service.oracle_id', [undefined, 'a b-1'], ['abcd', 'abcdef', 'abcdé', 12_345]],
  ['service.encoded_asset_id', ['base64', 'keccak256'], ['hex', null]],
  ['listen', [undefined, {}], [8080, null]],
  ['listen.host', ...hosts],
  ['listen.port', ...ports],
  ['listen.tls', [undefined], [true, null]],
  ['listen.tls.cert_file', ['a/b.pem'], ['', undefined, 5]],
  ['listen.tls.key_file', ['a/b.pem'], ['', undefined, 5]],
  ['listen.threads', ['auto', 1, 256], [0, 257, 1.5, '2', 'all', null]],
  ['listen.trusted_proxies', [undefined, [], ['10.0.0.0/8', '::1']], [{}, '10.0.0.0/8']],
  [
    'listen.trusted_proxies[0]',
    ['127.0.0.1', 'fd00::/8', '0.0.0.0/0'],
    ['', '10.0.0.0/33', 'localhost', '10.0.0', 5],
  ],
  ['listen.allowed_origins', [undefined, [], ['*']], [{}, '*']],
  [
    'listen.allowed_origins[0]',
    ['*', 'http://[::1]:8080', 'https://*.a.example', 'null', 'tauri://localhost'],
    ['', 'a.example', 'https://a.example/', 'https://A.example', 'https://*.example', 'wss://a.example'],
  ],
  ['listen.page_token', [undefined], ['', 'of no entry', 5, null]],
  ['listen.page_operators', [undefined, []], [{}, 'https://b.example']],
  [
    'listen.page_operators[0]',
    ['https://b.example', 'http://127.0.0.1:8081'],
    ['', '*', 'b.example', 'https://b.example/', 'https://*.example', "https://b'example"],
  ],
  ['listen.ping_interval', [undefined, '1s', '300s'], ['0s', '301s', '1500ms', 20]],
  ['admin', [undefined, {}], [9090]],
  ['admin.host', ...hosts],
  ['admin.port', ports[0], [...ports[1], 8080]],
  ['admin.allowed_hosts', [undefined, [], ['a.internal']], [{}, 'a.internal']],
  ['admin.allowed_hosts[0]', ['a.internal'], ['', 'a.internal:9090', '*', 5]],
  ['keys.evm', [{ env: 'K' }, { file: 'k' }], [undefined, {}, { file: 'k', env: 'K' }, 'k']],
  ['keys.evm.file', ['/etc/k'], ['', 5]],
  ['keys.stark.env', ['_K1'], ['', '1K', 'A B', 5]],
  ['keys.stark', [{ file: 'k' }], [undefined, {}, 5]],
  ['tokens', [undefined, []], [{}, null]],
  ['tokens[0].name', ["Bob's", 'é'], [undefined, '', 'a\tb', 'x'.repeat(65), 5]],
  ['tokens[0].sha256', ['AB'.repeat(32)], [undefined, 'ab'.repeat(31), `0x${'ab'.repeat(32)}`]],
  ['tokens[0].scopes', [['rest'], ['rest', 'rest']], [undefined, [], 'rest']],
  ['tokens[0].scopes[0]', ['stream'], ['admin', 5]],
  ['tokens[0].requests_per_second', [undefined, 1, 1_000_000], [0, 1.5, '5']],
  ['tokens[0].publisher_keys', [undefined, [hex(BigInt(STARK_PUBLISHER_KEY))]], [[], 'x']],
  [
    'tokens[0].publisher_keys[0]',
    [EVM_PUBLISHER_KEY, '0x99'],
    ['', '99', '0xzz', hex(2n ** 300n), WRONG_CHECKSUM],
  ],
  ['tokens[0].assets', [undefined, ['*'], ['BTCUSD', 'DYDXUSD']], [[], '*']],
  ['tokens[0].assets[0]', ['BTCUSD', '*'], ['', 'a b', 5, 'XRPUSD']],
  ['assets[1].id', [0, 65_535], [undefined, -1, 65_536, 1.5, '1', 1]],
  [
    'assets[0].symbol',
    ['BTC/USD', 'a.b:c-d', '^GSPC', '€', 'x'.repeat(64)],
    [undefined, '', '*', 'A,B', 'A B', 'A\u0000', 'A"', 'A\\', '__proto__', 'x'.repeat(65), 'STORKAUTH'],
  ],
  ['assets[1].symbol', ['X'.repeat(26)], ['X'.repeat(27), '€USD']],
  ['assets[0].signature_type', [undefined, 'stark'], ['EVM', null]],
  ['assets[0].aggregation', ['average', 'weighted average'], ['mean', 'weighted_average']],
  ['assets[0].min_publishers', ...counts],
  ['assets[0].max_age', [undefined, '1ms', '3650d'], [60, '60', '0s', '1us', '1 s']],
  ['assets[0].clock_period', ['1ms', '24h'], ['0ms', '1500us', '25h', 500]],
  ['assets[0].delta_percent', [0.000001, 1_000_000], [0, -1, 0.0000001, 1.2345678, '1']],
  ['assets[0].max_deviation_percent', [undefined, 0.5], [0, -1, 1_000_001, null]],
  ['assets[0].calendar', ['us_equities', 'forex', 'metals', 'tokyo'], ['nyse', '', 5]],
  [
    'publishers[0].key',
    ['0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB', `0x${'AB'.repeat(20)}`],
    ['', '0x99', `0x${'00'.repeat(20)}`, 'ab'.repeat(20), WRONG_CHECKSUM],
  ],
  ['publishers[1].key', ['0x1', hex(FIELD_PRIME - 1n)], ['0x0', hex(FIELD_PRIME), hex(2n ** 256n), '0x', 5]],
  ['publishers[0].oracle_id', [undefined, 'acme'], ['', 'é', 5]],
  ['publishers[1].oracle_id', [undefined, 'acme1'], ['acme', 'acme12', 'acmé1']],
  ['publishers[0].signature_type', [undefined], ['ecdsa', null]],
  ['publishers[0].assets', [undefined, ['BTCUSD']], [[], '*']],
  ['publishers[0].assets[0]', ['BTCUSD'], ['', 'a b', 'XRPUSD']],
  ['publishers[0].weight', [undefined, 0.5, 3], [0, -1, 0.1234567, '1']],
  ['ingest.max_past', [undefined, '1ms', '36500d'], ['0s', 60]],
  ['ingest.max_future', [undefined, '0s', '5m'], ['-1s', 2]],
  ['ingest.max_backward', [0, '0s', '60s'], ['-1s', '0', '61s', 2]],
  ['storage.dir', [undefined, '/var/lib/x'], ['', 5]],
  ['storage.candle_retention', [undefined, '1d'], ['0d', 3650]],
  ['storage.reserve', [undefined, 1_048_576, '1 GiB'], ['0', '16 MB', '2048 GiB']],
  ['deployments[0].chain_id', [42_161], [undefined, 0, '1']],
  ['deployments[0].network', ['x'], [undefined, '']],
  ['deployments[0].environment', ['x'], [undefined, '']],
  ['deployments[0].proxy_address', [`0x${'0a'.repeat(20)}`], [undefined, '0x0a', 'x', WRONG_CHECKSUM]],
  ['deployments[0].block_explorer_url', ['http://a.b'], [undefined, 'a.b', 'javascript:1']],
  ['pushed_assets', [undefined, {}], [[], null]],
  ['pushed_assets.ethereum.mainnet.ETHUSD.delta', [0, 1.25], [undefined, -1, '1']],
  ['pushed_assets.ethereum.mainnet.ETHUSD.staleness', [0, 0.5], [undefined, -1, '1s']],
  ['calendars.tokyo.closures', [undefined, []], ['2025-01-01', null]],
  ['calendars.tokyo.closures[0]', ['2024-02-29'], ['2025-02-29', '1.1.2025']],
  ['calendars.tokyo.late_opens', [undefined, {}], [[], { '2025-01-13': '10' }]],
  ['calendars.tokyo.known_until', [undefined, '2026-12-31'], ['2026', 5]],
  ['calendars.tokyo.sessions[0].since', [undefined], ['2025-02-29', 5]],
  ['calendars.none', [], [{}]],
  ...COUNTED.map((name) => [`limits.${name}`, ...counts] as const),
  ['limits.subscriptions_per_connection', [65_536], [...counts[1], 65_537]],
  ['limits.client_message_bytes', [64, '64 MiB'], [63, '65 MiB', '1 KB', 1.5]],
  ['limits.publish_message_bytes', [undefined, '64'], ['', 0, null]],
  ['limits.trace_id_characters', [undefined, 1, 256], [...counts[1], 257]],
  ['limits.slow_consumer', ['1ms', '1h'], ['0s', '61m', '1500us', 10]],
  ['limits.idle_timeout', [undefined, '8s', '960s'], ['7s', '961s', '8500ms', 60]],
  ['limits.drain', [undefined, '0s', '10m'], ['11m', '1500us', '-1s', 3]],
  ['limits.publish_bytes_per_second', [64, '64 GiB'], [63, '65 GiB', '1 MB', -1]],
  ['limits.delta_aggregates_per_second', [1, 1_000_000], [0, 1_000_001, 1.5]],
  ['cluster.name', ['a_1'], ['', 'Main', 'a.b', '1a', 'a'.repeat(33), 5]],
  ['cluster.role', ['aggregator'], [undefined, 'leader', null]],
  ['cluster.node', [1, 63], [undefined, 0, 64, 1.5, '1']],
  [
    'cluster.servers',
    [['nats://h:1', 'tls://[::1]:4222', 'nats://h/']],
    [undefined, [], 'nats://h', SERVERS],
  ],
  ['cluster.servers[0]', ['nats://h'], ['http://h', 'h:4222', 'nats://u:p@h', 'nats://h/x', 5]],
  ['cluster.credentials', [{ file: 'a' }, { env: 'A' }], [{}, { file: 'a', env: 'A' }, 'a']],
  ['cluster.tls', [{}, { ca_file: 'a' }, { cert_file: 'a', key_file: 'b' }], [{ cert_file: 'a' }, true]],
  ['cluster.replicas', [1, 3, 5], [0, 2, 4, 7, '3']],
  ['cluster.verify_records', [true, false], ['yes', 1]],
  ['cluster.durable', ['disk', 'memory'], ['', 'always', true]],
  ['cluster.lease', ['100ms', '5s'], ['99ms', '61s', 1000, '1500us']],
  ['cluster.tick_lease', ['1s', '600s'], ['0s', '601s']],
  ['cluster.feed_timeout', ['5001ms', '600s'], ['50ms', '601s']],
  ['cluster.log_retention', ['16m', '1d'], ['30s', '25h']],
];

test('each key takes its values and refuses others at its place', async (t) => {
  for (const [path, right, wrong] of cases) {
    for (const value of right) {
      const result = parseConfig(sampleWith(path, value), 'c');
      t.same(result.ok ? [] : result.errors, [], `${path} accepts ${JSON.stringify(value)}`);
    }
    for (const value of wrong) {
      const result = parseConfig(sampleWith(path, value), 'c');
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
    ',service,listen,listen.tls,admin,keys,keys.evm,tokens[0],assets[0],publishers[0],ingest,storage,deployments[0],calendars.tokyo,limits,cluster';
  for (const mapping of [...mappings.split(','), 'pushed_assets.ethereum.mainnet.ETHUSD']) {
    for (const key of ['nope', '__proto__x', 'constructor']) {
      const path = mapping === '' ? key : `${mapping}.${key}`;
      const result = parseConfig(sampleWith(path, 1), 'c');
      t.match(result.ok ? [] : result.errors.map((error) => error.split(' ').slice(1).join(' ')), [
        `${path}: unknown key`,
      ]);
    }
  }
});

test('each limit that is a count has its value in the name of the code', async (t) => {
  for (const [i, name] of COUNTED.entries()) {
    const result = parseConfig(sampleWith(`limits.${name}`, 101 + i), 'c');
    const key = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    t.match(result, { ok: true, config: { limits: { [key]: 101 + i } } }, name);
  }
});
