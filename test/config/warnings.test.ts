import { test } from 'tap';
import { parseConfig } from '../../src/config/load.js';
import { sampleWith } from './sample.js';

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
      `c:16:3 admin.host: the admin listener asks for no token, and ${host} may be reached from other machines`,
    ]);
  for (const host of ['127.0.0.1', '127.255.255.254', '::1', 'localhost', 'LocalHost', '::ffff:127.0.0.1'])
    t.same(warningsOf(['admin', 'host'], host), [], host);
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
  t.equal(warningsOf(['publishers'], []).length, 3);
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
