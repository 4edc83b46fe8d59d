import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { DEMO_CATALOGUE } from '../../../src/cli/demo/demo_catalogue.js';
import { prepareDemo } from '../../../src/cli/demo/prepare.js';
import { parseSecretKey } from '../../../src/client/sign/sign_price.js';
import { loadConfig } from '../../../src/config/load.js';

const SIX = ['USDTUSD', 'BTCUSD', 'ETHUSD', 'SOLUSD', 'XRPUSD', 'DOGEUSD'];
const PORTS = { port: 8080, adminPort: 9090 };

interface ListedKey {
  readonly key: string;
  readonly signature_type?: string;
  readonly assets: readonly string[];
}

const freshDir = (t: Test) => join(t.testdir(), 'data');

test('the first start makes keys, tokens and a configuration', async (t) => {
  const dir = freshDir(t);
  const demo = prepareDemo(dir, PORTS);
  t.ok(demo.created);
  const config = parse(readFileSync(demo.configFile, 'utf8'));
  t.equal(config.tokens[0].sha256, createHash('sha256').update(demo.token).digest('hex'));
  t.equal(config.assets.length, DEMO_CATALOGUE.length);
  t.same(
    config.tokens[1].publisher_keys,
    config.publishers.map(({ key }: { key: string }) => key),
  );
  for (const { file } of Object.values(config.keys) as { file: string }[]) {
    t.equal(statSync(file).mode & 0o777, 0o600, file);
    t.ok(parseSecretKey(readFileSync(file, 'utf8').trim()));
  }
  t.equal(statSync(join(dir, 'demo-secrets.json')).mode & 0o777, 0o600);
});

test('a publisher of the user may publish all assets with the token of the demo', async (t) => {
  const key = `0x${'ab'.repeat(20)}`;
  const demo = prepareDemo(freshDir(t), PORTS, { own: { key, signatureType: 'evm' } });
  const config = parse(readFileSync(demo.configFile, 'utf8'));
  t.same(config.publishers.at(-1), { key, signature_type: 'evm', assets: ['*'] });
  t.ok(config.tokens[0].publisher_keys.includes(key));
  t.notOk(config.tokens[1].publisher_keys.includes(key), 'the simulated publishers do not publish with it');
  t.ok(loadConfig(demo.configFile).ok);
});

test('a later start keeps the keys and takes the new ports', async (t) => {
  const dir = freshDir(t);
  const first = prepareDemo(dir, PORTS);
  const before = parse(readFileSync(first.configFile, 'utf8'));
  const second = prepareDemo(dir, { port: 1234, adminPort: 1235 });
  t.same(second, { ...first, created: false });
  const after = parse(readFileSync(second.configFile, 'utf8'));
  t.same(after, {
    ...before,
    listen: { ...before.listen, port: 1234 },
    admin: { ...before.admin, port: 1235 },
  });
});

test('no simulated publisher may publish a real price, and no real one a simulated price', async (t) => {
  const dir = t.testdir();
  const { configFile, simulation } = prepareDemo(dir, PORTS, { realSymbols: [...SIX, 'GOLD'] });
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
  const [token] = tokens.filter(({ name }: { name: string }) => name === 'market-publisher');
  t.match(token, { scopes: ['publish'], publisher_keys: [real.key] });
  t.same(
    tokens.filter(({ publisher_keys }: { publisher_keys: string[] }) => publisher_keys.includes(real.key)),
    [token],
    'no other token may publish for the key',
  );
  prepareDemo(dir, PORTS);
  const other = parse(readFileSync(configFile, 'utf8'));
  t.not(other.storage.dir, storage.dir, 'no candle is made of both');
});
