import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { renderDemoBanner } from '../../../src/cli/demo/banner.js';
import { DEMO_CATALOGUE, liveCatalogue } from '../../../src/cli/demo/demo_catalogue.js';
import { prepareDemo } from '../../../src/cli/demo/prepare.js';
import { parseSecretKey } from '../../../src/client/sign/sign_price.js';
import { parseDecimalPrice } from '../../../src/client/verify/decimal_price.js';
import { starkExternalAssetId } from '../../../src/client/verify/stark_messages.js';
import { loadConfig } from '../../../src/config/load.js';

const PORTS = { port: 8080, adminPort: 9090 };

function freshDir(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-demo-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return join(dir, 'data');
}

test('the first start makes keys, tokens and a configuration', async (t) => {
  const dir = freshDir(t);
  const demo = prepareDemo(dir, PORTS);
  t.ok(demo.created);
  const config = parse(readFileSync(demo.configFile, 'utf8'));
  t.match(config, {
    service: { name: 'service', taxonomy_id: 1, oracle_id: 'servc' },
    listen: { host: '127.0.0.1', port: 8080 },
    admin: { host: '127.0.0.1', port: 9090 },
    tokens: [
      { name: 'demo', scopes: ['rest', 'stream', 'publish'] },
      { name: 'simulated-publishers', scopes: ['publish'] },
    ],
    storage: { dir: join(dir, 'store') },
  });
  t.equal(config.tokens[0].sha256, createHash('sha256').update(demo.token).digest('hex'));
  t.equal(config.assets.length, DEMO_CATALOGUE.length);
  t.same(
    config.tokens[1].publisher_keys,
    config.publishers.map(({ key }: { key: string }) => key),
  );
  t.same(
    config.publishers.map(({ signature_type }: { signature_type: string }) => signature_type),
    ['evm', 'evm', 'evm', 'stark', 'stark', 'stark'],
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

test('damaged secrets are named, not replaced', async (t) => {
  const dir = freshDir(t);
  prepareDemo(dir, PORTS);
  const file = join(dir, 'demo-secrets.json');
  writeFileSync(file, '{');
  t.throws(() => prepareDemo(dir, PORTS), {
    message: `${file} cannot be read: remove it to begin the demo afresh`,
  });
});

test('secrets that others can read are refused', async (t) => {
  const dir = freshDir(t);
  prepareDemo(dir, PORTS);
  const file = join(dir, 'demo-secrets.json');
  for (const mode of [0o640, 0o604]) {
    chmodSync(file, mode);
    t.throws(() => prepareDemo(dir, PORTS), {
      message: `${file} is open to its group or to others; chmod 600 it`,
    });
  }
  chmodSync(file, 0o600);
  t.equal(prepareDemo(dir, PORTS).created, false);
});

test('the catalogue is sound', async (t) => {
  const ids = DEMO_CATALOGUE.map(({ id }) => id);
  t.same(
    ids,
    [...new Set(ids)].sort((a, b) => a - b),
  );
  const bitcoins = DEMO_CATALOGUE.filter(({ symbol }) => symbol === 'BTCUSD');
  t.same(bitcoins.map(({ signatureType }) => signatureType).sort(), ['evm', 'stark']);
  for (const { symbol, anchor, tick, signatureType } of DEMO_CATALOGUE) {
    t.ok(parseDecimalPrice(anchor)! > parseDecimalPrice(tick)! * 1_000n, symbol);
    if (signatureType === 'stark') t.ok(starkExternalAssetId(symbol, 'simul'), symbol);
  }
});

test('the banner has lines to paste', async (t) => {
  const text = renderDemoBanner({
    url: 'http://127.0.0.1:8080',
    adminUrl: 'http://127.0.0.1:9090',
    token: 'TOKEN',
    configFile: 'data/demo.yaml',
    evmAddress: '0xEVM',
    starkPublicKey: '0xSTARK',
    created: true,
  });
  const curl =
    'curl -H "Authorization: Basic TOKEN" "http://127.0.0.1:8080/v1/prices/latest?assets=BTCUSD,EURUSD"';
  const wscat = `npx wscat -c "ws://127.0.0.1:8080/ws?channel=1s" -H "Authorization: Basic TOKEN" -x '{"type":"subscribe","assets":[1,2]}' -w 10`;
  const verified =
    'TICKSEAL_TOKEN=TOKEN node dist/src/cli/main.js subscribe BTCUSD --url ws://127.0.0.1:8080 --message-type signed_ecdsa --decode --signer 0xEVM';
  t.match(text, /signers +0xEVM .*\n +0xSTARK /);
  for (const line of [curl, wscat, verified]) t.ok(text.includes(`\n  ${line}\n`), line);
});

test('an asset of a file of sources has the same ID in every file', async (t) => {
  const idsOf = (...symbols: string[]) =>
    new Map(liveCatalogue(symbols).assets.map(({ symbol, id }) => [symbol, id]));
  const one = idsOf('AAAUSD', 'BBBUSD');
  const other = idsOf('BBBUSD', 'CCCUSD');
  t.equal(one.get('BBBUSD'), other.get('BBBUSD'));
  t.not(one.get('AAAUSD'), other.get('CCCUSD'));
  const many = Array.from({ length: 2_000 }, (_, i) => `S${i}USD`);
  const ids = liveCatalogue(many).assets.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length, 'no two assets share an ID');
  t.ok(ids.every((id) => id <= 65_535));
});
