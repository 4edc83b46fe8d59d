import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { stringify } from 'yaml';
import { loadConfig, parseConfig } from '../../src/config/load.js';
import { makeCertificate } from '../certificate.js';
import { STARK_PUBLISHER_KEY, sampleFile } from './sample.js';

test('the sample becomes exact values under the names of the code', async (t) => {
  const result = parseConfig(stringify(sampleFile()), 'c');
  if (!result.ok) return t.fail(result.errors.join('\n'));
  const { config } = result;
  t.same(config.keys, { evm: { file: 'keys/evm.hex' }, stark: { env: 'STARK_KEY' } });
  t.match(config.listen, { pingIntervalSeconds: 20, tls: { certFile: 'cert.pem', keyFile: 'key.pem' } });
  t.same(config.tokens, [
    {
      name: 'alice',
      sha256: Buffer.alloc(32, 0xab),
      scopes: new Set(['rest', 'stream', 'publish']),
      requestsPerSecond: 5,
      publisherKeys: new Set([`0x${'cd'.repeat(19)}`]),
      assets: new Set(['*']),
    },
  ]);
  t.same(config.assets[0], {
    index: 0,
    id: 1,
    symbol: 'BTCUSD',
    signatureType: 'evm',
    aggregation: 'median',
    minPublishers: 1,
    maxAgeNs: 60_000_000_000n,
    clockPeriodNs: 500_000_000n,
    delta: 100_000n,
    maxDeviation: 5_000_000n,
    frozen: undefined,
    calendar: 'none',
  });
  t.match(config.assets[1], { index: 1, signatureType: 'stark', calendar: 'tokyo' });
  t.same(config.publishers[1], {
    index: 1,
    signatureType: 'stark',
    key: Buffer.from(STARK_PUBLISHER_KEY.slice(2).padStart(64, '0'), 'hex'),
    oracleId: 'czowx',
    assets: new Set(['*']),
    weight: 250_000n,
  });
  t.same(config.ingest, {
    maxPastNs: 60_000_000_000n,
    maxFutureNs: 2_000_000_000n,
    maxBackwardNs: 2_000_000_000n,
    loginMaxPastNs: 30_000_000_000n,
    loginMaxFutureNs: 2_000_000_000n,
  });
  t.same(config.storage, {
    dir: './data',
    candleRetentionNs: 3650n * 86_400n * 1_000_000_000n,
    reserveBytes: 16 * 1024 * 1024,
    past: { proofsNs: 604_800_000_000_000n, signaturesNs: 7_776_000_000_000_000n },
  });
  t.match(config.limits, {
    clientMessageBytes: 65_536,
    traceIdCharacters: 256,
    publishMessageBytes: 1_048_576,
    slowConsumerMs: 10_000,
    idleTimeoutSeconds: 60,
    drainMs: 3_000,
    publishBytesPerSecond: 8 * 1024 * 1024,
    deltaAggregatesPerSecond: 20,
  });
});

/** Writes the sample configuration with these TLS files, and its key. Returns the path of the configuration. */
function sampleFolder(folder: string, certFile: string, keyFile: string): string {
  mkdirSync(join(folder, 'keys'));
  writeFileSync(join(folder, 'keys/evm.hex'), `0x${'11'.repeat(32)}\n`, { mode: 0o600 });
  const listen = { tls: { cert_file: certFile, key_file: keyFile } };
  writeFileSync(join(folder, 'config.yaml'), stringify({ ...sampleFile(), listen }));
  return join(folder, 'config.yaml');
}
const env = { STARK_KEY: '2'.repeat(63) };

test('named files have absolute paths, a TLS key is a file of its owner alone, and belongs to its certificate', async (t) => {
  const folder = t.testdir();
  const file = sampleFolder(folder, 'first.pem', 'first.key');
  const missing = makeCertificate(folder, 'first') ?? makeCertificate(folder, 'second');
  if (missing !== undefined) return t.comment(`skipped: ${missing}`);
  const errors = () => {
    const result = loadConfig(file, env);
    return result.ok ? [] : result.errors;
  };
  const key = join(folder, 'first.key');
  t.same(errors(), []);
  const loaded = loadConfig(file, env);
  t.match(loaded, {
    config: {
      keys: { evm: { file: join(folder, 'keys/evm.hex') } },
      listen: { tls: { certFile: join(folder, 'first.pem') } },
      storage: { dir: join(folder, 'data') },
    },
  });
  chmodSync(key, 0o640);
  t.same(errors(), [
    `${file}:7:5 listen.tls.key_file: ${key} is open to its group or to others (mode 0640); chmod 600 it`,
  ]);
  chmodSync(key, 0o600);
  const text = readFileSync(key, 'utf8');
  const doNotFit = [
    `${file}:6:5 listen.tls.cert_file: TLS cannot start with ${folder}/first.pem and ${key}: are they a certificate and its key?`,
  ];
  for (const other of [readFileSync(join(folder, 'second.key'), 'utf8'), text.slice(0, 120), '']) {
    writeFileSync(key, other);
    t.same(errors(), doNotFit);
  }
  writeFileSync(key, text);
  writeFileSync(join(folder, 'first.pem'), text);
  t.same(errors(), doNotFit, 'a key where the certificate belongs');
});

test('bad keys and TLS files are errors at their place in the file', async (t) => {
  const folder = t.testdir();
  const file = sampleFolder(folder, 'nope.pem', 'keys');
  chmodSync(join(folder, 'keys/evm.hex'), 0o640);
  const result = loadConfig(file, {});
  t.same(result.ok ? [] : result.errors, [
    `${file}:6:5 listen.tls.cert_file: ${folder}/nope.pem cannot be read: there is no such file; it must hold the certificate and those of its issuers in PEM`,
    `${file}:7:5 listen.tls.key_file: ${folder}/keys is not a file`,
    `${file}:10:5 keys.evm.file: ${folder}/keys/evm.hex is open to its group or to others (mode 0640); chmod 600 it`,
    `${file}:12:5 keys.stark.env: the variable STARK_KEY is not set`,
  ]);
});

test('a file that cannot be read or does not validate is an error, not an exception', async (t) => {
  const folder = t.testdir({ 'config.yaml': 'keys: 5' });
  t.same(loadConfig(join(folder, 'nope.yaml'), {}), {
    ok: false,
    errors: [
      `${folder}/nope.yaml: cannot be read: there is no such file; check the path, or make one with tickseal init`,
    ],
  });
  t.same(loadConfig(join(folder, 'config.yaml'), {}), {
    ok: false,
    errors: [`${folder}/config.yaml:1:1 keys: expected a mapping of keys to values, found 5`],
  });
});
