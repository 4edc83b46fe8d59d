import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { stringify } from 'yaml';
import { clusterConfigHash } from '../../src/config/cluster_hash.js';
import { clusterProblems } from '../../src/config/cluster_references.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig, parseConfig } from '../../src/config/load.js';
import type { ReadableFile } from '../../src/config/readable_file.js';
import { CLUSTER, sampleFile } from './sample.js';

/** Returns the errors of the sample with another `cluster`, without the file name and line numbers. */
function said(cluster: object, keys: object = sampleFile().keys): string[] {
  const result = parseConfig(stringify({ ...sampleFile(), keys, cluster }), 'c');
  return result.ok ? [] : result.errors.map((error) => error.replace(/^\S+ /, ''));
}

function configOf(file: object): Config {
  const result = parseConfig(stringify(file), 'c');
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result.config;
}

test('a cluster has defaults', async (t) => {
  t.same(configOf({ ...sampleFile(), cluster: CLUSTER }).cluster, {
    name: 'main',
    ...CLUSTER,
    replicas: 3,
    verifyRecords: false,
    durable: 'disk',
    leaseMs: 1_000,
    tickLeaseMs: 12_000,
    feedTimeoutMs: 10_000,
    logRetentionMs: 1_200_000,
  });
  t.equal(configOf(sampleFile()).cluster, undefined);
});

test('keys of a cluster fit each other', async (t) => {
  t.same(said({ ...CLUSTER, lease: '2s', tick_lease: '1s' }), [
    'cluster.tick_lease: shorter than cluster.lease, after which another aggregator takes over',
  ]);
  t.match(said({ ...CLUSTER, feed_timeout: '1s' }), [/feed_timeout: not longer than cluster\.lease/]);
  t.match(said({ ...CLUSTER, log_retention: '959s' }), [/^cluster\.log_retention: too short: .* 960s/]);
  t.same(said({ ...CLUSTER, log_retention: '960s' }), []);
  t.match(said({ ...CLUSTER, servers: ['nats://a', 'nats://a'] }), [
    'cluster.servers[1]: the same as cluster.servers[0]',
  ]);
});

test('an edge has no key for aggregates', async (t) => {
  const edge = { ...CLUSTER, role: 'edge' };
  const file = { file: 'k' };
  t.same(said(edge, {}), []);
  t.match(said(edge, { evm: file, stark: file }), [/^keys\.evm: an edge signs no/, /^keys\.stark: an edge/]);
  t.match(said(CLUSTER, { stark: file }), [/^keys\.evm: missing/]);
  t.same(configOf({ ...sampleFile(), keys: { stream: file }, cluster: edge }).keys, { stream: file });
});

test('the files of a cluster are read at the start', async (t) => {
  const dir = t.testdir();
  mkdirSync(join(dir, 'k'));
  const key = join(dir, 'k/stream.hex');
  writeFileSync(key, '11'.repeat(32), { mode: 0o600 });
  writeFileSync(join(dir, 'nats.creds'), 'edge:secret', { mode: 0o644 });
  const file = join(dir, 'config.yaml');
  const tls = { ca_file: 'no.pem' };
  const cluster = { ...CLUSTER, role: 'edge', credentials: { file: 'nats.creds' }, tls };
  writeFileSync(file, stringify({ keys: { stream: { file: 'k/stream.hex' } }, cluster }));
  const found = () => {
    const result = loadConfig(file, {});
    return result.ok ? result.config : result.errors.map((error) => error.replace(/^\S+ /, ''));
  };
  t.match(found(), [
    /^cluster\.credentials\.file: .* is open to its group/,
    /^cluster\.tls\.ca_file: .* there is no such file/,
  ]);
  chmodSync(join(dir, 'nats.creds'), 0o600);
  writeFileSync(join(dir, 'no.pem'), 'nonsense');
  t.match(found(), [/^cluster\.tls\.ca_file: .* holds no certificate/]);
  writeFileSync(
    file,
    stringify({ keys: { stream: { file: 'k/stream.hex' } }, cluster: { ...cluster, tls: {} } }),
  );
  t.match(found(), {
    keys: { stream: { file: key } },
    cluster: { credentials: { file: join(dir, 'nats.creds') } },
  });
});

test('the hash covers what decides prices, and nothing else', async (t) => {
  const base = sampleFile();
  const hash = (file: object) => clusterConfigHash(configOf(file)).toString('hex');
  const [first, second, third] = base.assets;
  const same = [
    { ...base, listen: { ...base.listen, port: 1 }, cluster: CLUSTER, tokens: [] },
    { ...base, assets: [third, first, second], publishers: [...base.publishers].reverse() },
  ];
  for (const file of same) t.equal(hash(file), hash(base));
  const other = [
    { ...base, service: { ...base.service, taxonomy_id: 2 } },
    { ...base, assets: [{ ...first, max_age: '61s' }, second, third] },
    { ...base, publishers: base.publishers.map((one) => ({ ...one, assets: ['BTCUSD'] })) },
    { ...base, publishers: base.publishers.slice(1) },
    { ...base, calendars: { tokyo: { ...base.calendars.tokyo, closures: [] } } },
  ];
  t.equal(new Set([base, ...other].map(hash)).size, other.length + 1);
});

test('a cluster takes as many assets as fit one message of all prices', async (t) => {
  const problems = (count: number) => [
    ...clusterProblems({
      cluster: {},
      ingest: {},
      assets: { length: count },
    } as unknown as ReadableFile),
  ];
  t.same(problems(32_000), []);
  t.same(problems(32_001), [{ path: ['assets'], message: '32001 assets: a cluster takes at most 32000' }]);
});
