import { test } from 'tap';
import { sharedOrderBooks } from '../../src/sources/order_books.js';
import { parseSources, type SourcesResult } from '../../src/sources/parse_sources.js';
import { planRemarks } from '../../src/sources/plan_remarks.js';
import { readPage } from '../pages.js';

const FILE = `
sources:
  kraken:  { kind: kraken }
  coinbase: { kind: coinbase }
  binance: { kind: binance, url: wss://data-stream.binance.vision }
  gate:    { kind: ccxt, exchange: gate }
  ecb:     { kind: http, url: "https://example.org/{symbol}", every: 60s, price: "$.rates.USD", at: "$.time", headers: { Authorization: { env: KEY } } }
  desk:    { kind: command, run: [./quotes] }
assets:
  BTCUSD:  { from: [kraken BTC/USD, coinbase BTC/USD, "binance BTC/USDT * USDTUSD"], max_age: 5s, max_spread_percent: 0.5, bounds: [1000, "1e7"] }
  USDTUSD: { from: [kraken USDT/USD, coinbase USDT/USD], bounds: [0.5, 1.5], publish: false }
publish: { url: ws://127.0.0.1:8080/evm/publish, every: 1s, delta_percent: 0.05 }
`;

test('the example of the contract', async (t) => {
  const result = parseSources(FILE, 'sources.yaml');
  t.ok(result.ok);
  if (!result.ok) return;
  const { sources, assets, publish } = result.plan;
  t.same([...sources.keys()], ['kraken', 'coinbase', 'binance', 'gate', 'ecb', 'desk']);
  t.same(
    assets.map(({ symbol }) => symbol),
    ['USDTUSD', 'BTCUSD'],
    'what converts comes first',
  );
  t.same(assets[1], {
    symbol: 'BTCUSD',
    inputs: [
      { source: 'kraken', symbol: 'BTC/USD', conversion: undefined, divides: false, engine: 'kraken' },
      { source: 'coinbase', symbol: 'BTC/USD', conversion: undefined, divides: false, engine: 'coinbase' },
      { source: 'binance', symbol: 'BTC/USDT', conversion: 'USDTUSD', divides: false, engine: 'binance' },
    ],
    minSources: 2,
    maxAgeNs: 5_000_000_000n,
    maxSpread: 500_000n,
    maxDeviation: 1_000_000n,
    bounds: [1000n * 10n ** 18n, 10n ** 25n],
    isPublished: true,
  });
  t.equal(assets[0]!.isPublished, false);
  t.same(publish, { url: 'ws://127.0.0.1:8080/evm/publish', everyNs: 1_000_000_000n, delta: 50_000n });
});

const errorsOf = (text: string): readonly string[] => {
  const result: SourcesResult = parseSources(text, 's.yaml');
  return result.ok ? [] : result.errors;
};
const sources = (assets: string) =>
  `sources:\n  kraken: { kind: kraken }\n  okx: { kind: okx }\nassets:\n${assets}`;

test('the example of the page', async (t) => {
  const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(readPage('src/sources/README.md')) ?? [];
  t.same(errorsOf(yaml), []);
});

test('errors name file, line, key and remedy', async (t) => {
  const btc = (from: string, rest = '') => sources(`  A: { from: [${from}]${rest} }`);
  const two = 'kraken BTC/USD, okx BTC/USD';
  const http = (rest: string) => `sources: { h: { kind: http, url: "https://x", ${rest} } }\nassets: {}`;
  for (const [text, error] of [
    [btc('kraken BTC/USD, krakn BTC/USD'), /^s\.yaml:5:31 assets\.A\.from\[1\]: no source is named krakn$/],
    [btc('kraken BTCUSD, okx BTC/USD'), /from\[0\]: expected a pair such as BTC\/USD, found BTCUSD/],
    [
      btc(two, ', bounds: [0, "1e-19"]'),
      /bounds\[1\]: expected a price such as 0\.5, with at most 18 decimals/,
    ],
    [btc(two, ', bounds: [2, 1]'), /bounds: expected the lower bound first/],
    [btc('kraken BTC/USD, "okx BTC/USDT * B"'), /from\[1\]: no asset is named B/],
    [btc('kraken BTC/USD, kraken BTC/EUR'), /2 sources are needed, but from names 1/],
    [btc('kraken BTC/USD, kraken BTC/USD', ', min_sources: 1'), /from\[1\]: the same market twice/],
    [btc(two, ', max_age: 5'), /max_age: expected a duration/],
    [btc(two, ', speed: 1'), /s\.yaml:5:45 assets\.A\.speed: unknown key/],
    [
      'sources: { k: { kind: krakn } }\nassets: {}',
      /sources\.k\.kind: expected one of .* or command, found "krakn"$/,
    ],
    ['sources: { K: { kind: kraken } }\nassets: {}', /expected a name of at most 32/],
    [http('every: 1s'), /expected either price, or bid and ask/],
    [http('every: 10ms, price: $.a'), /every: expected at least 1s/],
    ['sources: [', /^s\.yaml:/],
    ['', /s\.yaml:1:1/],
  ] as const)
    t.match(errorsOf(text).join('\n'), error, text);
  const key = 'a'.repeat(64);
  t.notMatch(errorsOf(btc(`kraken BTC/USD, ${key} BTC/USD`)).join(), key, 'a key in the place of a name');
});

test('pairs in lower case, paths with a colon, small and negative bounds, and a byte order mark', async (t) => {
  const text = `\ufeffsources:
  kraken: { kind: kraken }
  web: { kind: http, url: "https://x/", every: 1s, price: "$.rates.EUR:USD[0]" }
assets:
  AAPL: { from: [kraken AAPLx/USD, web A], bounds: [-37.70, 1e-7] }
`;
  t.same(errorsOf(text), []);
  const result = parseSources(text, 's.yaml');
  t.same(result.ok && result.plan.assets[0]!.bounds, [-377n * 10n ** 17n, 10n ** 11n]);
  t.match(errorsOf(`\ufeff${sources('  A: { from: [krakn A/B], min_sources: 1 }')}`), [
    /^s\.yaml:5:15 assets\.A\.from\[0\]/,
  ]);
});

test('what the operator must know about a file without errors', async (t) => {
  const result = parseSources(
    `sources: { web: { kind: http, url: "https://x/{symbol}", every: 60s, price: $.a } }
assets: { A: { from: [web A], min_sources: 1, max_age: 10s }, B: { from: [web B], min_sources: 1, max_age: 60s } }`,
    's.yaml',
  );
  t.same(result.ok && planRemarks(result.plan), [
    'A: web is asked every 60 s, but max_age is 10 s, so it will mostly be stale',
  ]);
});

test('a refused address, header or query is not repeated, however short it is', async (t) => {
  const http = (fields: string) =>
    `sources: { h: { kind: http, every: 1s, price: $.a, ${fields} } }\nassets: {}`;
  for (const text of [
    http('url: "http://u:pw@h/"'),
    http('url: "ftp://h/?k=pw"'),
    http('url: "http://h/", headers: { X: "pw\\u0001" }'),
    http('url: "http://h/", query: { k: ["pw"] }'),
    http(`url: "http://h/", query: { k: "pw${'x'.repeat(300)}" }`),
    'sources: { h: { kind: kraken, ticker_url: "http://u:pw@h" } }\nassets: {}',
    'sources: { h: { kind: command, run: pw } }\nassets: {}',
    'sources: {}\nassets: {}\npublish: { url: "ws://h/?token=pw" }',
  ]) {
    const errors = errorsOf(text).join('\n');
    t.match(errors, /expected/, text);
    t.notMatch(errors, /pw|found/, errors);
  }
});

test('names that share order books are one source, and are told', async (t) => {
  const http = (path: string) =>
    `{ kind: http, url: "https://rates.example/${path}", every: 1s, price: $.a }`;
  for (const [first, second, isShared] of [
    ['{ kind: coinbase }', '{ kind: coinbase, url: "wss://proxy.example" }', true],
    ['{ kind: coinbase }', '{ kind: ccxt, exchange: coinbaseexchange }', true],
    ['{ kind: coinbase }', '{ kind: ccxt, exchange: gate }', false],
    ['{ kind: binance }', '{ kind: binance, url: "wss://stream.binance.com:9443/stream" }', true],
    ['{ kind: binance }', '{ kind: binance, url: "wss://stream.binance.us:9443/stream" }', false],
    [http('{symbol}'), http('{symbol}'), true],
    [http('{symbol}'), http('other/{symbol}'), false],
  ] as const) {
    const text = (minSources: number) =>
      `sources: { one: ${first}, two: ${second} }\nassets: { A: { from: [one A/USD, two A/USD], min_sources: ${minSources} } }`;
    const result = parseSources(text(1), 's.yaml');
    const told = isShared ? ['one and two show the same order books, so they count as one source'] : [];
    t.same(result.ok && sharedOrderBooks(result.plan.sources), told, second);
    t.equal(errorsOf(text(2)).length, told.length, second);
  }
});

test('a circle of conversions is an error with its line', async (t) => {
  const circle = `  A: { from: ["kraken A/B * B"], min_sources: 1 }
  B: { from: [okx B/USD, "kraken B/C * C"], min_sources: 1 }
  C: { from: ["okx C/A * A"], min_sources: 1 }`;
  t.same(errorsOf(sources(circle)), [
    's.yaml:7:15 assets.C.from[0]: the conversions form a circle: A → B → C → A',
  ]);
  t.same(errorsOf(sources(circle.replace('"okx C/A * A"', 'okx C/USD'))), [], 'a chain has an end');
});

test('the sizes of a file are limited, and each limit is named', async (t) => {
  const list = (count: number, item: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => item(i)).join(', ');
  const desk = (i: number) => `s${i}: { kind: command, run: [x] }`;
  const asset = (i: number) => `A${i}: { from: [s0 A], min_sources: 1 }`;
  const fileOf = (sourceCount: number, assetCount: number) =>
    `sources: { ${list(sourceCount, desk)} }\nassets: { ${list(assetCount, asset)} }`;
  t.same(errorsOf(fileOf(64, 1_000)), []);
  t.match(errorsOf(fileOf(65, 1)), [/s\.yaml:1:1 sources: expected at most 64 sources/]);
  t.match(errorsOf(fileOf(1, 1_001)), [/assets: expected at most 1000 assets/]);
  const inputs = (count: number) =>
    `sources: { ${list(33, desk)} }\nassets: { A: { from: [${list(count, (i) => `s${i} A`)}] } }`;
  t.same(errorsOf(inputs(32)), []);
  t.match(errorsOf(inputs(33)), [/assets\.A\.from: /]);
  for (const [fields, error] of [
    [`kind: command, run: [${list(65, () => 'x')}]`, /sources\.s0\.run: /],
    [`kind: command, run: [${'x'.repeat(4_097)}]`, /run\[0\]: /],
    [
      `kind: http, url: "https://x", every: 1s, price: $.a, headers: { ${list(17, (i) => `h${i}: v`)} }`,
      /sources\.s0\.headers: expected at most 16 of them/,
    ],
  ] as const)
    t.match(errorsOf(`sources: { s0: { ${fields} } }\nassets: {}`), [error]);
});
