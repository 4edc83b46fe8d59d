import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { freePorts } from '../../../src/cli/demo/free_ports.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { natsServers, needsNatsServer } from '../../cluster/nats/servers.js';
import { emptyFolder } from '../../publiclog/witness/small_witness.js';
import { ServeProcess, writeConfig } from '../child.js';
import { SERVICE_KEYS, type TestService } from '../harness.js';
import { placeOf, policyOf, priceOf } from '../logged_prices.js';
import { cosignedBy, LOGS, WitnessProcess } from '../witness_process.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

const [{ origin, seed, vkey }] = LOGS as unknown as [(typeof LOGS)[number]];
const KEYS = { ...SERVICE_KEYS, log: seed };
const SECTIONS = { log: { origin, batch: '100ms', checkpoint: '200ms' } };

async function publicFileOf({ url }: Pick<TestService, 'url'>, path: string): Promise<string> {
  const response = await fetch(`${url}/tlog/${path}`);
  return `${response.status} ${Buffer.from(await response.arrayBuffer()).toString('base64')}`;
}

/** Checks that all nodes serve the first tiles of the same tree. */
async function checkSame(t: Test, nodes: readonly Pick<TestService, 'url'>[], size: bigint): Promise<void> {
  const paths = [`tile/0/000.p/${size}`, `tile/entries/000.p/${size}`, 'batch/000', 'batch/003'];
  for (const path of paths) {
    const files = await Promise.all(nodes.map((node) => publicFileOf(node, path)));
    t.same([...new Set(files)].length, 1, `${path} is the same on all nodes`);
    t.match(files[0], /^200 /);
  }
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

test(
  'every aggregator has the public log, and the next leader continues it',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const dirs = [emptyFolder(t), emptyFolder(t)] as const;
    const start = (node: 1 | 2) =>
      cluster.node(node, 'aggregator', SECTIONS, { keys: KEYS, dir: dirs[node - 1]! });
    const first = await start(1);
    await untilReady(first);
    let second = await start(2);
    await untilReady(second);
    const policy = await policyOf(first);
    t.same(await policyOf(second), policy);
    const shown = [await priceOf(first, 'BTCUSD', 'evm', 100n, nowNs())];
    shown.push(await priceOf(second, 'DYDXUSD', 'stark', 3n, nowNs()));
    const places = [];
    for (const aggregate of shown) {
      const [here, there] = await Promise.all(
        [first, second].map((node) => placeOf(node, aggregate, policy)),
      );
      t.equal(here!.batch.batch, there!.batch.batch);
      places.push(here!);
    }
    const size = await eventually(async () => {
      const found = await cosignedBy(first, policy, []);
      return found > 5n ? found : undefined;
    });
    await cosignedBy(second, policy, [], size - 1n);
    await checkSame(t, [first, second], size);

    // A standby that returns has the same log, and leads when the leader ends.
    await second.stop();
    shown.push(await priceOf(first, 'BTCUSD', 'evm', 110n, nowNs()));
    second = await start(2);
    await untilReady(second);
    await first.stop();
    await eventually(async () =>
      (await nodesOf(second)).some(({ node, role }) => node === 2 && role === 'leader'),
    );
    shown.push(await priceOf(second, 'BTCUSD', 'evm', 120n, nowNs()));
    for (const [i, aggregate] of shown.entries()) {
      const { batch, size: now } = await placeOf(second, aggregate, policy);
      if (places[i] !== undefined) t.equal(batch.batch, places[i].batch.batch, 'the place stays');
      if (i === 3) t.ok(now > size, 'and the log goes on');
    }
    const metrics = await (await fetch(`${second.adminUrl}/metrics`)).text();
    t.match(metrics, /^tickseal_tlog_stopped 0$/m);
  },
);

test('edges and late aggregators copy the log from another node', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const first = await cluster.node(1, 'aggregator', SECTIONS, { keys: KEYS });
  await untilReady(first);
  const policy = await policyOf(first);
  const aggregate = await priceOf(first, 'BTCUSD', 'evm', 100n, nowNs());
  const { batch } = await placeOf(first, aggregate, policy);
  const size = await cosignedBy(first, policy, [], batch.batch + 10n);

  // The log of prices no longer has these batches.
  const connection = await connect({ servers: [...cluster.servers] });
  t.teardown(() => connection.close());
  const { streams } = await jetstreamManager(connection);
  // The log refuses to be purged. So the test sets a limit with which the log keeps only the newer records.
  const { config } = await streams.info('TS_MAIN_LOG');
  await streams.update('TS_MAIN_LOG', { ...config, max_msgs: 2 });
  await streams.update('TS_MAIN_LOG', config);
  const edge = await cluster.node(2, 'edge');
  const late = await cluster.node(3, 'aggregator', SECTIONS, { keys: KEYS });
  for (const node of [edge, late]) {
    await untilReady(node);
    t.same(await eventually(async () => policyOf(node).catch(() => undefined)), policy);
    await cosignedBy(node, policy, [], size);
    const place = await placeOf(node, aggregate, policy);
    t.equal(place.batch.batch, batch.batch);
  }
  const published = await priceOf(edge, 'BTCUSD', 'evm', 101n, nowNs());
  const places = await Promise.all([first, edge, late].map((node) => placeOf(node, published, policy)));
  t.equal(new Set(places.map((place) => place.batch.batch)).size, 1);
  await checkSame(t, [first, edge, late], size);

  // The late node has the whole log, so it continues the log.
  await first.stop();
  await eventually(async () =>
    (await nodesOf(late)).some(({ node, role }) => node === 3 && role === 'leader'),
  );
  const next = await priceOf(late, 'BTCUSD', 'evm', 102n, nowNs());
  for (const node of [late, edge]) {
    const place = await placeOf(node, next, policy);
    t.ok(place.batch.batch > batch.batch);
  }
  t.match(await (await fetch(`${edge.adminUrl}/metrics`)).text(), /^tickseal_tlog_stopped 0$/m);
});

test('witnesses cosign one log through kill -9 of its leaders', needsNatsServer(), async (t) => {
  const dir = emptyFolder(t);
  const servers = await natsServers(t, 1);
  const [witnessPort, ...ports] = (await freePorts(3)) as [number, ...number[]];
  const witness = new WitnessProcess(t, dir, 1, witnessPort);
  witness.start();
  const policyText = `log ${vkey}\n${witness.line}\nquorum W1\n`;
  const configs = [1, 2].map((node, i) => {
    const folder = join(dir, `node-${node}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'log.hex'), seed.toString('hex'), { mode: 0o600 });
    writeFileSync(join(folder, 'log.policy'), policyText);
    return writeConfig(folder, {
      listen: { host: '127.0.0.1', port: ports[i]! },
      keys: { evm: { file: 'evm.hex' }, stark: { file: 'stark.hex' }, log: { file: 'log.hex' } },
      log: { ...SECTIONS.log, policy: { file: 'log.policy' }, require_quorum: true },
      cluster: { role: 'aggregator', node, servers: servers.urls, replicas: 1, durable: 'memory' },
      storage: { dir: join(folder, 'data') },
    });
  });
  const processes: ServeProcess[] = [];
  const start = async (i: number) => {
    const process = new ServeProcess(['--config', configs[i]!]);
    t.teardown(() => process.kill());
    processes[i] = process;
    return process.ready();
  };
  const nodes = [await start(0), await start(1)];
  const policy = parsePolicy(policyText);
  let size = await cosignedBy(nodes[0]!, policy, ['W1']);
  for (let round = 0; round < 4; round++) {
    const leader = await eventually(async () => {
      const { node } =
        (await nodesOf(nodes[round % 2] as TestService)).find(({ role }) => role === 'leader') ?? {};
      return node;
    });
    const [killed, other] = leader === 1 ? [0, 1] : [1, 0];
    await processes[killed]!.kill();
    size = await cosignedBy(nodes[other]!, policy, ['W1'], size + 3n);
    nodes[killed] = await start(killed);
    const again = await cosignedBy(nodes[killed]!, policy, ['W1'], size);
    t.ok(again > size, `round ${round}: both nodes serve the cosigned log, ${again} batches`);
    size = again;
  }
  for (const [i, { adminUrl }] of nodes.entries()) {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    t.match(metrics, /^tickseal_tlog_stopped 0$/m, processes[i]!.stdout);
  }
});
