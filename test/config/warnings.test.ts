import { test } from 'tap';
import { stringify } from 'yaml';
import { parseConfig } from '../../src/config/load.js';
import { hashToken } from '../../src/config/token_hash.js';
import { sampleFile, sampleWith } from './sample.js';

function warningsOf(path: readonly (string | number)[], value: unknown): readonly string[] {
  const result = parseConfig(sampleWith(path, value), 'c');
  return result.ok ? result.warnings : ['not valid', ...result.errors];
}

test('the sample has no warning', async (t) => {
  t.same(warningsOf(['service', 'name'], 'service'), []);
});

test('an admin listener that other machines may reach', async (t) => {
  for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.org', '128.0.0.1', '::2'])
    t.match(warningsOf(['admin', 'host'], host), [
      `c:18:3 admin.host: the admin listener asks for no token, and ${host} may be reached from other machines`,
    ]);
  for (const host of ['127.0.0.1', '127.255.255.254', '::1', 'localhost', 'LocalHost', '::ffff:127.0.0.1'])
    t.same(warningsOf(['admin', 'host'], host), [], host);
});

test('a calendar whose dates end soon', async (t) => {
  t.match(warningsOf(['calendars', 'tokyo', 'known_until'], '2025-12-31'), [
    /calendars\.tokyo: its closures and hours were known until 2025-12-31: add those after it$/,
  ]);
  t.match(warningsOf(['calendars', 'tokyo', 'known_until'], undefined), [/ until 2025-01-13: /]);
});

test('a token that may publish for everybody', async (t) => {
  const [warning, ...more] = warningsOf(['tokens', 0, 'publisher_keys'], undefined);
  t.match(
    warning,
    /^c:\d+:\d+ tokens\[0\]\.scopes: this token may publish for every publisher; publisher_keys/,
  );
  t.same(more, []);
  t.same(warningsOf(['tokens', 0], { name: 'a', sha256: 'ab'.repeat(32), scopes: ['rest'] }), []);
});

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
      /listen\.page_token: everybody who opens the live page reads with the token everybody; all of them together have its 500 requests a second$/,
    ],
  });
  t.match(parseConfig(fileWith({ ...reader, scopes: ['rest', 'publish'] }), 'c'), {
    ok: false,
    errors: [/listen\.page_token: .* must not have the scope publish$/],
  });
});

test('a taxonomy ID whose first byte marks the other layout', async (t) => {
  t.match(warningsOf(['service', 'taxonomy_id'], 65_280), [/service\.taxonomy_id: .* byte 0xFF/]);
  t.match(warningsOf(['service', 'taxonomy_id'], 65_535), [/service\.taxonomy_id: .* byte 0xFF/]);
  t.same(warningsOf(['service', 'taxonomy_id'], 65_279), []);
});

test('more publishers demanded than may feed an asset', async (t) => {
  const never = (index: number, symbol: string, min: number, count: number) =>
    new RegExp(
      `assets\\[${index}\\]\\.min_publishers: ${symbol} never has a price: min_publishers is ${min}, and ${count} of the publishers may feed it$`,
    );
  // Two publishers have evm keys and one has a stark key.
  t.same(warningsOf(['assets', 0, 'min_publishers'], 2), []);
  t.match(warningsOf(['assets', 0, 'min_publishers'], 3), [never(0, 'BTCUSD', 3, 2)]);
  t.match(warningsOf(['assets', 1, 'min_publishers'], 2), [never(1, 'DYDXUSD', 2, 1)]);
  t.match(warningsOf(['publishers', 1, 'assets'], ['BTCUSD']), [never(1, 'DYDXUSD', 1, 0)]);
  t.match(warningsOf(['publishers', 0, 'assets'], ['DYDXUSD']), [], 'the other one still feeds both');
  t.equal(warningsOf(['publishers'], []).length, 4, 'three assets, and the key of the token');
  const many = Array.from({ length: 50 }, (_, id) => ({
    id: id + 10,
    symbol: id === 0 ? 'ETHUSD' : `A${id}`,
  }));
  const warnings = warningsOf(
    ['assets'],
    [
      { id: 1, symbol: 'BTCUSD', min_publishers: 9 },
      { id: 2, symbol: 'DYDXUSD' },
      ...many.map((asset) => ({ ...asset, min_publishers: 9 })),
    ],
  );
  t.equal(warnings.length, 21);
  t.match(warnings.join('\n'), /31 more assets never have a price/);
});

test('a publisher whose symbols take other signatures than its own', async (t) => {
  // DYDXUSD takes stark signatures, and the first publisher signs evm prices.
  t.match(warningsOf(['publishers', 0, 'assets'], ['BTCUSD', 'DYDXUSD']), [
    /publishers\[0\]\.assets: this publisher signs evm prices, and no evm asset is named DYDXUSD$/,
  ]);
  t.same(warningsOf(['publishers', 0, 'assets'], ['BTCUSD']), []);
});

/** A harmful value, the closest harmless value, and the reason. */
const LIMITS: readonly [path: readonly (string | number)[], bad: unknown, good: unknown, reason: RegExp][] = [
  [
    ['ingest', 'max_past'],
    '1ms',
    '100ms',
    /^c:\d+:\d+ ingest\.max_past: below 100ms most updates are refused/,
  ],
  [
    ['ingest', 'max_future'],
    '1d',
    '60s',
    /^c:\d+:\d+ ingest\.max_future: above 60s a publisher with a wrong/,
  ],
  [['assets', 0, 'max_age'], '499ms', '500ms', /assets\[0\]\.max_age: below clock_period: .* of BTCUSD/],
  [['assets', 0, 'max_deviation_percent'], 5000, 99.9, /assets\[0\]\.max_deviation_percent: from 100 on no/],
  [
    ['storage', 'candle_retention'],
    '1h',
    '1d',
    /storage\.candle_retention: below 1d the candles of a month are/,
  ],
  [
    ['listen', 'trusted_proxies'],
    ['0.0.0.0/0'],
    ['10.0.0.0/8'],
    /listen\.trusted_proxies\[0\]: so large a block/,
  ],
  [
    ['listen', 'trusted_proxies'],
    ['::1', '::/0'],
    ['fc00::/7'],
    /listen\.trusted_proxies\[1\]: so large a block/,
  ],
  [['listen', 'trusted_proxies'], ['::ffff:0:0/96'], ['::ffff:a00:0/104'], /trusted_proxies\[0\]: so large/],
  [
    ['limits', 'drain'],
    '30s',
    '25s',
    /limits\.drain: systemd kills a process .* 30 s after .* 25s is the most/,
  ],
  [
    ['limits', 'publish_bytes_per_second'],
    '1 KiB',
    '1 MiB',
    /limits\.publish_bytes_per_second: below publish_message_bytes \(1048576\)/,
  ],
  [
    ['limits', 'publish_connections_per_token'],
    257,
    256,
    /limits\.publish_connections_per_token: with publish_message_bytes \(1048576\) .* 538968064 bytes/,
  ],
];

for (const [path, bad, good, reason] of LIMITS)
  test(`${path.join('.')} of ${bad} is a warning`, async (t) => {
    t.match(warningsOf(path, bad), [reason]);
    t.same(warningsOf(path, good), []);
  });

test('origins that pages of strangers may have', async (t) => {
  for (const [origin, strangers] of [
    ['null', /any web page can open/],
    ['tauri://localhost', /each app/],
    ['https://*.example.com', /take over/],
  ] as const)
    t.match(warningsOf(['listen', 'allowed_origins'], [origin]), [strangers]);
  t.same(warningsOf(['listen', 'allowed_origins'], ['https://a.example', '*']), []);
});
