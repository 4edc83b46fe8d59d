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
  for (const [text, error] of [
    [
      sources('  A: { from: [kraken BTC/USD, krakn BTC/USD] }'),
      /^s\.yaml:5:31 assets\.A\.from\[1\]: no source is named krakn$/,
    ],
    [
      sources('  A: { from: [kraken BTCUSD, okx BTC/USD] }'),
      /from\[0\]: expected a pair such as BTC\/USD, found BTCUSD/,
    ],
    [
      sources('  A: { from: [kraken BTC/USD, okx BTC/USD], bounds: [0, "1e-19"] }'),
      /bounds\[1\]: expected a price such as 0\.5, with at most 18 decimals/,
    ],
    [sources('  A: { from: [kraken, okx BTC/USD] }'), /from\[0\]: expected a source and its symbol/],
    [sources('  A: { from: [kraken BTC/USD, "okx BTC/USDT * B"] }'), /from\[1\]: no asset is named B/],
    [
      sources('  A: { from: [kraken BTC/USD] }'),
      /A: 2 sources are needed, but from names 1|min_sources: 2 sources/,
    ],
    [sources('  A: { from: [kraken BTC/USD, kraken BTC/EUR] }'), /2 sources are needed, but from names 1/],
    [
      sources('  A: { from: [kraken BTC/USD, kraken BTC/USD], min_sources: 1 }'),
      /from\[1\]: the same market twice/,
    ],
    [sources('  A: { from: [kraken BTC/USD, okx BTC/USD], max_age: 5 }'), /max_age: expected a duration/],
    [
      sources('  A: { from: [kraken BTC/USD, okx BTC/USD], bounds: [2, 1] }'),
      /bounds: expected the lower bound first/,
    ],
    [
      sources('  A: { from: [kraken BTC/USD, okx BTC/USD], speed: 1 }'),
      /s\.yaml:5:45 assets\.A\.speed: unknown key/,
    ],
    [
      'sources: { k: { kind: krakn } }\nassets: {}',
      /sources\.k\.kind: expected one of kraken, coinbase, binance, .* or command, found "krakn"$/,
    ],
    ['sources: { K: { kind: kraken } }\nassets: {}', /expected a name of at most 32/],
    [
      'sources: { h: { kind: http, url: "https://x", every: 1s } }\nassets: {}',
      /expected either price, or bid and ask/,
    ],
    [
      'sources: { h: { kind: http, url: "https://x", every: 10ms, price: $.a } }\nassets: {}',
      /every: expected at least 1s/,
    ],
    ['sources: [', /^s\.yaml:/],
    ['', /s\.yaml:1:1/],
  ] as const)
    t.match(errorsOf(text).join('\n'), error, text);
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
  const long = 'x'.repeat(300);
  for (const text of [
    http('url: "http://u:pw@h/"'),
    http('url: "ftp://h/?k=pw"'),
    http('url: pw'),
    http('url: "http://h/", headers: { X: "pw\\u0001" }'),
    http('url: "http://h/", headers: { X: "" }'),
    http('url: "http://h/", headers: pw'),
    http('url: "http://h/", query: { k: ["pw"] }'),
    http(`url: "http://h/", query: { k: "pw${long}" }`),
    http('url: "http://h/", query: { k: { env: "pw pw" } }'),
    'sources: { h: { kind: kraken, url: "http://u:pw@h" } }\nassets: {}',
    'sources: { h: { kind: kraken, ticker_url: "http://u:pw@h" } }\nassets: {}',
    'sources: { h: { kind: command, run: pw } }\nassets: {}',
    'sources: {}\nassets: {}\npublish: { url: "ws://u:pw@h" }',
    'sources: {}\nassets: {}\npublish: { url: "ws://h/?token=pw" }',
    'sources: {}\nassets: {}\npublish: { url: 12 }',
  ]) {
    const errors = errorsOf(text).join('\n');
    t.match(errors, /expected/, text);
    t.notMatch(errors, /pw|found/, errors);
  }
});

test('names that share order books are one source, and are told', async (t) => {
  const told = (second: string) => {
    const text = (minSources: number) =>
      `sources: { coinbase: { kind: coinbase }, other: ${second} }\nassets: { A: { from: [coinbase A/USD, other A/USD], min_sources: ${minSources} } }`;
    const result = parseSources(text(1), 's.yaml');
    return [errorsOf(text(2)).length, result.ok ? sharedOrderBooks(result.plan.sources) : []];
  };
  const sentence = 'coinbase and other show the same order books, so they count as one source';
  for (const second of [
    '{ kind: coinbase }',
    '{ kind: coinbase, url: "wss://proxy.example" }',
    '{ kind: ccxt, exchange: coinbaseexchange }',
  ])
    t.same(told(second), [1, [sentence]], second);
  t.same(told('{ kind: ccxt, exchange: gate }'), [0, []]);
  const binance = (url: string) =>
    parseSources(
      `sources: { one: { kind: binance }, two: { kind: binance, url: "${url}" } }\nassets: {}`,
      's.yaml',
    );
  for (const [url, count] of [
    ['wss://stream.binance.com:9443/stream', 1],
    ['wss://stream.binance.us:9443/stream', 0],
  ] as const) {
    const result = binance(url);
    t.equal(result.ok && sharedOrderBooks(result.plan.sources).length, count, url);
  }
  const http = (path: string) =>
    `{ kind: http, url: "https://rates.example/${path}", every: 1s, price: $.a }`;
  const two = (second: string) =>
    parseSources(`sources: { one: ${http('{symbol}')}, two: ${http(second)} }\nassets: {}`, 's.yaml');
  for (const [second, count] of [
    ['{symbol}', 1],
    ['other/{symbol}', 0],
  ] as const) {
    const result = two(second);
    t.equal(result.ok && sharedOrderBooks(result.plan.sources).length, count, second);
  }
});

test('a circle of conversions is an error with its line', async (t) => {
  t.same(
    errorsOf(
      sources(
        '  A: { from: ["kraken A/B * B"], min_sources: 1 }\n  B: { from: [okx B/USD, "kraken B/C * C"], min_sources: 1 }\n  C: { from: ["okx C/A * A"], min_sources: 1 }',
      ),
    ),
    ['s.yaml:7:15 assets.C.from[0]: the conversions form a circle: A → B → C → A'],
  );
  t.match(errorsOf(sources('  A: { from: ["kraken A/B * A"], min_sources: 1 }')), [/A → A/]);
  t.same(
    errorsOf(
      sources(
        '  A: { from: ["kraken A/B * B", "okx A/C * C"] }\n  B: { from: ["kraken B/C * C", okx B/USD] }\n  C: { from: [okx C/USD], min_sources: 1 }',
      ),
    ),
    [],
    'two ways to one asset are none',
  );
});

test('a key in the place of a name is not repeated in an error', async (t) => {
  const key = 'a'.repeat(64);
  t.notMatch(errorsOf(sources(`  A: { from: [kraken BTC/USD, ${key} BTC/USD] }`)).join(), key);
});

test('the sizes of a file are limited, and each limit is named', async (t) => {
  const list = (count: number, item: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => item(i)).join(', ');
  const desk = (i: number) => `s${i}: { kind: command, run: [x] }`;
  const asset = (i: number) => `A${i}: { from: [s0 A], min_sources: 1 }`;
  const headers = (count: number) =>
    `sources: { s0: { kind: http, url: "https://x", every: 1s, price: $.a, headers: { ${list(count, (i) => `h${i}: v`)} } } }\nassets: {}`;
  const fileOf = (sourceCount: number, assetCount: number) =>
    `sources: { ${list(sourceCount, desk)} }\nassets: { ${list(assetCount, asset)} }`;
  t.same(errorsOf(fileOf(64, 1_000)), []);
  t.match(errorsOf(fileOf(65, 1)), [/s\.yaml:1:1 sources: expected at most 64 sources/]);
  t.match(errorsOf(fileOf(1, 1_001)), [/assets: expected at most 1000 assets/]);
  t.same(errorsOf(headers(16)), []);
  t.match(errorsOf(headers(17)), [/sources\.s0\.headers: expected at most 16 of them/]);
  const inputs = (count: number) =>
    `sources: { ${list(33, desk)} }\nassets: { A: { from: [${list(count, (i) => `s${i} A`)}] } }`;
  t.same(errorsOf(inputs(32)), []);
  t.match(errorsOf(inputs(33)), [/assets\.A\.from: /]);
  t.match(errorsOf(`sources: { s0: { kind: command, run: [${list(65, () => 'x')}] } }\nassets: {}`), [
    /sources\.s0\.run: /,
  ]);
  t.match(errorsOf(`sources: { s0: { kind: command, run: [${'x'.repeat(4_097)}] } }\nassets: {}`), [
    /run\[0\]: /,
  ]);
});
