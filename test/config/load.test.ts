import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
  t.same(config.listen, {
    host: '127.0.0.1',
    port: 8080,
    threads: 'auto',
    pingIntervalSeconds: 20,
    trustedProxies: [],
    allowedOrigins: [],
    pageOperators: [],
    tls: { certFile: 'cert.pem', keyFile: 'key.pem' },
  });
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
  t.same(config.assets[1], {
    ...config.assets[0],
    index: 1,
    id: 2,
    symbol: 'DYDXUSD',
    signatureType: 'stark',
    maxDeviation: undefined,
    calendar: 'tokyo',
  });
  t.same(config.publishers[1], {
    index: 1,
    signatureType: 'stark',
    key: Buffer.from(STARK_PUBLISHER_KEY.slice(2).padStart(64, '0'), 'hex'),
    oracleId: 'czowx',
    assets: new Set(['*']),
    weight: 250_000n,
  });
  t.equal(config.publishers[0]!.key.length, 20);
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
  t.same(config.deployments, sampleFile().deployments);
  t.same(config.pushedAssets, sampleFile().pushed_assets);
  t.same(config.limits, {
    assetsPerRequest: 100,
    candlesPerRequest: 50_000,
    rangeRows: 100_000,
    subscriptionsPerConnection: 1000,
    streamConnections: 10_000,
    connectionsPerAddress: 1000,
    connectionsPerToken: 100,
    publishConnectionsPerToken: 16,
    clientMessageBytes: 65_536,
    traceIdCharacters: 256,
    publishMessageBytes: 1_048_576,
    updatesPerMessage: 1000,
    controlMessagesPerSecond: 10,
    slowConsumerMs: 10_000,
    idleTimeoutSeconds: 60,
    drainMs: 3_000,
    badSignaturesPerSecond: 2000,
    signedFramesPerSecond: 10_000,
    subscriptionChangesPerSecond: 100_000,
    rangeRowsPerSecond: 50_000,
    publishBytesPerSecond: 8 * 1024 * 1024,
    badMessagesPerSecond: 100,
    deltaAggregatesPerSecond: 20,
    failedLoginsPerMinute: 300,
    refusedRequestsPerMinute: 3000,
  });
});

/** Writes the sample configuration and all files that it names into the folder. Returns the path of the configuration. */
function sampleFolder(folder: string): string {
  mkdirSync(join(folder, 'keys'));
  writeFileSync(join(folder, 'keys/evm.hex'), `0x${'11'.repeat(32)}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'cert.pem'), 'cert');
  writeFileSync(join(folder, 'key.pem'), 'key', { mode: 0o600 });
  writeFileSync(join(folder, 'config.yaml'), stringify(sampleFile()));
  return join(folder, 'config.yaml');
}
const env = { STARK_KEY: '2'.repeat(63) };

test('records of the public log that an audit may demand are kept, or there is a warning', async (t) => {
  const { keys, ...file } = sampleFile();
  const warningsOf = (retention: string) => {
    const log = { origin: 'prices.example.com/tlog', records_retention: retention };
    const withLog = { ...file, keys: { ...keys, log: { file: 'log.hex' } }, log };
    const result = parseConfig(stringify(withLog), 'c');
    return result.ok ? result.warnings.filter((text) => text.includes('records_retention')) : result.errors;
  };
  t.match(warningsOf('119m'), [/log\.records_retention: shorter than 2h/]);
  t.same(warningsOf('120m'), []);
});

test('a file loads with absolute paths when every file that it names exists', async (t) => {
  const folder = t.testdir();
  const file = sampleFolder(folder);
  const missing = useCertificate(folder, 'first');
  if (missing !== undefined) return t.comment(`skipped: ${missing}`);
  const result = loadConfig(file, env);
  if (!result.ok) return t.fail(result.errors.join('\n'));
  t.same(result.config.keys.evm, { file: join(folder, 'keys/evm.hex') });
  t.equal(result.config.listen.tls?.certFile, join(folder, 'cert.pem'));
  t.equal(result.config.storage.dir, join(folder, 'data'));
});

test('the TLS key is a file of its owner alone, and the two files belong together', async (t) => {
  const folder = t.testdir();
  const file = sampleFolder(folder);
  const missing = useCertificate(folder, 'first') ?? makeCertificate(folder, 'second');
  if (missing !== undefined) return t.comment(`skipped: ${missing}`);
  const errors = () => {
    const result = loadConfig(file, env);
    return result.ok ? [] : result.errors;
  };
  const key = join(folder, 'key.pem');
  for (const mode of [0o640, 0o604, 0o644, 0o660]) {
    chmodSync(key, mode);
    t.same(errors(), [
      `${file}:11:5 listen.tls.key_file: ${key} is open to its group or to others (mode 0${mode.toString(8)}); chmod 600 it`,
    ]);
  }
  chmodSync(key, 0o600);
  t.same(errors(), []);
  const text = readFileSync(key, 'utf8');
  const doNotFit = [
    `${file}:10:5 listen.tls.cert_file: TLS cannot start with ${folder}/cert.pem and ${key}: are they a certificate and its key?`,
  ];
  for (const other of [readFileSync(join(folder, 'second.key'), 'utf8'), text.slice(0, 120), '', 'key']) {
    writeFileSync(key, other);
    t.same(errors(), doNotFit);
  }
  writeFileSync(key, text);
  writeFileSync(join(folder, 'cert.pem'), text);
  t.same(errors(), doNotFit, 'a key where the certificate belongs');
});

/** Makes a certificate and uses it. @returns the reason if no certificate can be made */
function useCertificate(folder: string, name: string): string | undefined {
  const missing = makeCertificate(folder, name);
  if (missing !== undefined) return missing;
  for (const [from, to] of [
    ['pem', 'cert.pem'],
    ['key', 'key.pem'],
  ] as const)
    copyFileSync(join(folder, `${name}.${from}`), join(folder, to));
  return undefined;
}

test('bad keys and TLS files are errors at their place in the file', async (t) => {
  const file = sampleFolder(t.testdir());
  const folder = join(file, '..');
  chmodSync(join(folder, 'keys/evm.hex'), 0o640);
  writeFileSync(
    file,
    stringify({ ...sampleFile(), listen: { tls: { cert_file: 'nope.pem', key_file: 'keys' } } }),
  );
  const result = loadConfig(file, {});
  t.same(result.ok ? [] : result.errors, [
    `${file}:8:5 listen.tls.cert_file: ${folder}/nope.pem cannot be read: there is no such file; it must hold the certificate and those of its issuers in PEM`,
    `${file}:9:5 listen.tls.key_file: ${folder}/keys is not a file`,
    `${file}:16:5 keys.evm.file: ${folder}/keys/evm.hex is open to its group or to others (mode 0640); chmod 600 it`,
    `${file}:18:5 keys.stark.env: the variable STARK_KEY is not set`,
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
