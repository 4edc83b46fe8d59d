import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { DEMO_CATALOGUE } from '../../../src/cli/demo/demo_catalogue.js';
import { prepareDemo } from '../../../src/cli/demo/prepare.js';
import { parseSecretKey } from '../../../src/client/sign/sign_price.js';
import { loadConfig } from '../../../src/config/load.js';

const PORTS = { port: 8080, adminPort: 9090 };

function freshDir(t: Test): string {
  const dir = t.testdir();
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
