import { test } from 'tap';
import { stringify } from 'yaml';
import { parseConfig } from '../../src/config/load.js';
import { hashToken } from '../../src/config/token_hash.js';
import { sampleFile, sampleWith, TOKEN_PUBLISHER_KEY } from './sample.js';

function warningsOf(path: string, value: unknown): readonly string[] {
  const result = parseConfig(sampleWith(path, value), 'c');
  return result.ok ? result.warnings : ['not valid', ...result.errors];
}

test('a token that everybody receives', async (t) => {
  const sha256 = hashToken('public').toString('hex');
  const fileWith = (token: object) => {
    const file = sampleFile();
    return stringify({ ...file, listen: { ...file.listen, page_token: 'public' }, tokens: [token] });
  };
  const reader = { name: 'everybody', sha256, scopes: ['rest', 'stream'], requests_per_second: 500 };
  t.match(parseConfig(fileWith(reader), 'c'), {
    ok: true,
    config: { listen: { pageToken: 'public' } },
    warnings: [
      /listen\.page_token: everybody .* reads with the token everybody; .* its 500 requests a second$/,
    ],
  });
  const publisher = parseConfig(fileWith({ ...reader, scopes: ['rest', 'publish'] }), 'c');
  t.match(publisher, { errors: [/listen\.page_token: .* must not have the scope publish$/] });
});

test('assets that never have a price are named, the first 20 of them', async (t) => {
  const many = ['ETHUSD', ...Array.from({ length: 49 }, (_, i) => `A${i}`)];
  const assets = many.map((symbol, id) => ({ id, symbol, min_publishers: 9 }));
  const warnings = warningsOf('assets', assets);
  t.equal(warnings.length, 21);
  t.match(warnings.join('\n'), /30 more assets never have a price/);
});

/** A path, a harmful value, the closest harmless value, and the reason. */
const HARMFUL: readonly (readonly [path: string, bad: unknown, good: unknown, reason: RegExp])[] = [
  ['admin.host', '::', '::1', /^c:78:3 admin\.host: .* asks for no token, and :: may be reached from other/],
  ['admin.host', '128.0.0.1', '127.255.255.254', /admin\.host/],
  ['admin.host', 'example.org', 'LocalHost', /admin\.host/],
  ['admin.host', '0.0.0.0', '::ffff:127.0.0.1', /admin\.host/],
  ['calendars.tokyo.known_until', '2025-12-31', '2099-12-31', /tokyo: .* were known until 2025-12-31/],
  ['calendars.tokyo.known_until', undefined, '2099-12-31', / until 2025-01-13: add those after it$/],
  [
    'tokens[0].publisher_keys',
    undefined,
    [TOKEN_PUBLISHER_KEY],
    /tokens\[0\]\.scopes: .* publish for every publisher/,
  ],
  ['service.taxonomy_id', 65_280, 65_279, /service\.taxonomy_id: .* byte 0xFF/],
  // Two publishers have evm keys, and one has a stark key. DYDXUSD takes stark signatures.
  ['assets[0].min_publishers', 3, 2, /BTCUSD never has a price: .* is 3, and 2 of the publishers may feed/],
  ['publishers[1].assets', ['BTCUSD'], ['DYDXUSD'], /DYDXUSD never .* is 1, and 0 of the publishers/],
  [
    'publishers[0].assets',
    ['BTCUSD', 'DYDXUSD'],
    ['BTCUSD'],
    /signs evm prices, and no evm asset is named D/,
  ],
  ['listen.allowed_origins', ['null'], ['*'], /any web page can open/],
  ['listen.allowed_origins', ['tauri://localhost'], ['https://a.example'], /each app/],
  ['listen.allowed_origins', ['https://*.example.com'], [], /take over/],
  ['ingest.max_past', '1ms', '100ms', /ingest\.max_past: below 100ms most updates are refused/],
  ['ingest.max_future', '1d', '60s', /ingest\.max_future: above 60s a publisher with a wrong/],
  ['assets[0].max_age', '499ms', '500ms', /assets\[0\]\.max_age: below clock_period: .* of BTCUSD/],
  ['assets[0].max_deviation_percent', 5000, 99.9, /max_deviation_percent: from 100 on no/],
  ['storage.candle_retention', '1h', '1d', /candle_retention: below 1d the candles of a month are/],
  ['listen.trusted_proxies', ['0.0.0.0/0'], ['10.0.0.0/8'], /trusted_proxies\[0\]: so large a block/],
  ['listen.trusted_proxies', ['::1', '::/0'], ['fc00::/7'], /trusted_proxies\[1\]: so large a block/],
  ['listen.trusted_proxies', ['::ffff:0:0/96'], ['::ffff:a00:0/104'], /trusted_proxies\[0\]: so large/],
  ['limits.drain', '30s', '25s', /limits\.drain: systemd kills a process .* 30 s after .* 25s is the most/],
  ['limits.publish_bytes_per_second', '1 KiB', '1 MiB', /: below publish_message_bytes \(1048576\)/],
  ['limits.publish_connections_per_token', 257, 256, /publish_message_bytes \(1048576\) .* 538968064 bytes/],
];

test('each value that does harm is a warning, and the nearest harmless one is none', async (t) => {
  for (const [path, bad, good, reason] of HARMFUL) {
    t.match(warningsOf(path, bad), [reason], `${path}: ${bad}`);
    t.same(warningsOf(path, good), [], `${path}: ${good}`);
  }
});
