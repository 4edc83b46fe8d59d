import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { DEMO_CATALOGUE } from '../../../src/cli/demo/demo_catalogue.js';
import { liveMarkets, reachMarkets } from '../../../src/cli/demo/live_markets.js';
import { prepareDemo } from '../../../src/cli/demo/prepare.js';

const SIX = ['USDTUSD', 'BTCUSD', 'ETHUSD', 'SOLUSD', 'XRPUSD', 'DOGEUSD'];
const PORTS = { port: 8080, adminPort: 9090 };

interface ListedKey {
  readonly key: string;
  readonly signature_type?: string;
  readonly assets: readonly string[];
}

test('no key of an address is shown where the markets are not reached', async (t) => {
  const file = join(t.testdir(), 'own.yaml');
  writeFileSync(
    file,
    `sources:
  a: { kind: kraken, url: "ws://hidden-user:hidden-password@127.0.0.1:1/v2?key=hidden-key", pairs_url: "http://127.0.0.1:1/" }
  b: { kind: http, url: "http://127.0.0.1:1/?key=hidden-key", every: 1s, price: $.a }
assets: { BTCUSD: { from: [a BTC/USD, b BTC] } }
`,
  );
  const reached = await reachMarkets(liveMarkets('nowhere', file), AbortSignal.timeout(100));
  const text = reached.ok ? '' : reached.report.join('\n');
  t.match(text, /^ {2}a +ws:\/\/127\.0\.0\.1:1\/v2 .*\n {2}b +http /m);
  t.notMatch(text, 'hidden');
});

test('no simulated publisher may publish a real price, and no real one a simulated price', async (t) => {
  const dir = t.testdir();
  const { configFile, simulation, markets } = prepareDemo(dir, PORTS, { realSymbols: [...SIX, 'GOLD'] });
  const { publishers, tokens, assets, storage } = parse(readFileSync(configFile, 'utf8'));
  const [real] = publishers.filter(({ assets }: ListedKey) => assets.includes('GOLD'));
  t.same(new Set(real.assets), new Set([...SIX, 'GOLD']));
  for (const { key, assets, signature_type } of publishers as ListedKey[]) {
    if (key === real.key) continue;
    t.notOk(assets.includes('*'));
    if (signature_type === 'evm') t.notOk(assets.some((symbol) => real.assets.includes(symbol)));
  }
  const isReal = ({ symbol, signature_type }: { symbol: string; signature_type: string }) =>
    signature_type === 'evm' && real.assets.includes(symbol);
  const simulatedIds = assets.filter((asset: never) => !isReal(asset)).map(({ id }: { id: number }) => id);
  t.same(simulation, new Set(simulatedIds));
  t.equal(assets.length, DEMO_CATALOGUE.length + 1);
  t.match(assets.filter(isReal)[0], { min_publishers: 1, max_age: '15s' });
  const [token] = tokens.filter(({ name }: { name: string }) => name === 'market-publisher');
  t.match(token, { scopes: ['publish'], publisher_keys: [real.key] });
  t.same(
    tokens.filter(({ publisher_keys }: { publisher_keys: string[] }) => publisher_keys.includes(real.key)),
    [token],
    'no other token may publish for the key',
  );
  const simulated = prepareDemo(dir, PORTS);
  t.equal(simulated.simulation, true);
  const other = parse(readFileSync(configFile, 'utf8'));
  t.not(other.storage.dir, storage.dir, 'no candle is made of both');
  t.same(prepareDemo(dir, PORTS, { realSymbols: SIX }).markets, markets, 'a later start keeps the key');
});
