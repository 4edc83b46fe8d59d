import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { renderClusterBanner } from '../../../src/cli/demo/cluster_banner.js';
import { prepareDemoCluster } from '../../../src/cli/demo/prepare_cluster.js';
import { clusterConfigHash } from '../../../src/config/cluster_hash.js';
import { loadConfig } from '../../../src/config/load.js';

function prepare(t: Test, dataDir = join(t.testdirName, 'data')) {
  const runDir = join(t.testdirName, `run-${runs++}`);
  mkdirSync(runDir, { recursive: true });
  return prepareDemoCluster({
    dataDir,
    runDir,
    ports: [8080, 8081, 8082, 8083],
    adminPorts: [9080, 9081, 9082, 9083],
    servers: ['nats://127.0.0.1:1', 'nats://127.0.0.1:2', 'nats://127.0.0.1:3'],
    credentialsOf: (node) => `node-${node}:secret`,
  });
}

let runs = 0;

test('each node has a configuration of its own, with what must be equal on all', async (t) => {
  t.testdir({});
  const { nodes } = prepare(t);
  const configs = nodes.map(({ configFile }) => {
    const loaded = loadConfig(configFile);
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
  t.equal(configs[1]?.cluster?.servers[0], 'nats://127.0.0.1:2', 'each prefers another server');
  t.same(Object.keys(configs[0]!.keys).sort(), ['evm', 'stark', 'stream']);
  t.same(Object.keys(configs[3]!.keys), ['stream'], 'an edge has no key of aggregates');
});

test('a later start keeps the keys and the token', async (t) => {
  t.testdir({});
  const first = prepare(t);
  const second = prepare(t);
  t.same([second.token, second.signers], [first.token, first.signers]);
  const file = join(t.testdirName, 'data/demo-stream.hex');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.match(readFileSync(file, 'utf8'), /^0x[0-9a-f]{64}\n$/);
  t.not(first.signers.stream, first.signers.evm);
});

test('the banner has lines to paste', async (t) => {
  t.testdir({});
  const cluster = prepare(t);
  const text = renderClusterBanner({
    ...cluster,
    token: 'TOKEN',
    signers: { evm: '0xEVM', stark: '0xSTARK', stream: '0xSTREAM' },
    leader: 2,
    publishersAt: cluster.nodes[2]!,
    pidOf: ({ number }) => 100 + number,
    natsPid: 200,
    runDir: '/tmp/run',
  });
  const link = '8083/#token=TOKEN&signer=0xEVM&signer=0xSTARK&stream_signer=0xSTREAM';
  for (const line of [
    'node 1   standby  http://127.0.0.1:8080',
    'node 2   leader   http://127.0.0.1:8081',
    'node 3   edge     http://127.0.0.1:8082  the simulated publishers connect here',
    'curl -H "Authorization: Basic TOKEN" http://127.0.0.1:8083/v1/nodes',
    'kill -9 102   # the leader, node 2',
    'kill -9 101   # the standby, node 1',
    'kill -9 104   # an edge, node 4',
    'kill -9 200   # a NATS server',
    `http://127.0.0.1:${link}`,
  ])
    t.ok(text.includes(`\n  ${line}\n`), line);
});
