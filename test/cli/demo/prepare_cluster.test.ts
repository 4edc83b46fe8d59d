import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { prepareDemoCluster } from '../../../src/cli/demo/prepare_cluster.js';
import { clusterConfigHash } from '../../../src/config/cluster_hash.js';
import { loadConfig } from '../../../src/config/load.js';

function prepare(t: Test, run: string) {
  const dataDir = join(t.testdirName, 'data');
  return prepareDemoCluster(join(t.testdirName, run), { dataDir, port: 8080, binary: '/bin/nats-server' });
}

test('each node has a configuration of its own, with what must be equal on all', async (t) => {
  t.testdir({});
  const { nodes, servers } = await prepare(t, 'run');
  const configs = nodes.map(({ command }) => {
    const loaded = loadConfig(command.at(-1)!);
    if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
    t.same(loaded.warnings, []);
    return loaded.config;
  });
  t.match(
    configs.map(({ cluster, listen }) => ({ ...cluster, port: listen.port })),
    [
      { role: 'aggregator', node: 1, port: 8080, replicas: 3 },
      { role: 'aggregator', node: 2, port: 8081 },
      { role: 'edge', node: 3, port: 8082 },
      { role: 'edge', node: 4, port: 8083 },
    ],
  );
  t.equal(new Set(configs.map((config) => clusterConfigHash(config).toString('hex'))).size, 1);
  t.equal(new Set(configs.map(({ storage }) => storage.dir)).size, 4);
  t.equal(new Set(configs.map(({ cluster }) => cluster?.servers[0])).size, 3, 'each prefers another server');
  t.same(Object.keys(configs[0]!.keys).sort(), ['evm', 'stark', 'stream']);
  t.same(Object.keys(configs[3]!.keys), ['stream'], 'an edge has no key of aggregates');
  for (const { command } of servers) {
    t.same(command.slice(0, 2), ['/bin/nats-server', '-c']);
    t.ok(existsSync(command[2]!));
  }
});

test('a later start keeps the token and the publishers, and makes a new cluster', async (t) => {
  t.testdir({});
  const first = await prepare(t, 'first');
  const secrets = readFileSync(join(t.testdirName, 'data/demo-secrets.json'), 'utf8');
  const second = await prepare(t, 'second');
  t.equal(second.token, first.token);
  t.equal(readFileSync(join(t.testdirName, 'data/demo-secrets.json'), 'utf8'), secrets);
  t.not(second.signers.evm, first.signers.evm);
  t.not(first.signers.stream, first.signers.evm);
});
