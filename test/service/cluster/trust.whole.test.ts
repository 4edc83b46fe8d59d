import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { publishMessage } from '../../../src/client/index.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { publisherSigner, type SERVICE_KEYS, type TestService, TestSocket } from '../harness.js';
import { STREAM_KEYS, TestCluster, untilReady } from './nodes.js';

test(
  'messages in the log that no leader wrote end no node, also after its start',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const leader = await cluster.node(1, 'aggregator');
    await untilReady(leader);
    const standby = await cluster.node(2, 'aggregator');
    await untilReady(standby);
    const thief = await connect({ servers: [...cluster.servers] });
    t.teardown(() => thief.close());
    // An answer of a server, bytes under the ID of no record, and a request of an edge, like those of a stolen edge without accounts.
    const ids = ['x', 'f'.repeat(64), '-'];
    for (const id of ids)
      await eventually(() => thief.request(`ts.main.log.${id}`, '{"seq":1}').catch(() => undefined));
    const nodes = [leader, standby];
    for (const node of nodes) await eventually(async () => (await skippedOf(node)) === ids.length);
    nodes.push(await cluster.node(3, 'edge'));
    for (const node of nodes) await untilReady(node);
    t.equal(await skippedOf(nodes[2]!), ids.length, 'a node that starts reads them too');
    const publisher = await TestSocket.open(`${nodes[2]!.socketUrl}/evm/publish?ack=durable`);
    const timestampNs = BigInt(Date.now()) * 1_000_000n;
    const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: 5_000n, timestampNs });
    publisher.send(publishMessage('trace', [update]));
    t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] }, 'the log goes on');
  },
);

test('nodes are ready again when all have the configuration of a reload', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const before = { assets: [{ id: 1, symbol: 'A' }] };
  const after = {
    assets: [
      { id: 1, symbol: 'A' },
      { id: 2, symbol: 'B' },
    ],
  };
  const leader = await cluster.node(1, 'aggregator', before);
  await untilReady(leader);
  const edge = await cluster.node(2, 'edge', before);
  await untilReady(edge);
  leader.reconfigure(after);
  await eventually(async () => /differs/.test(await readinessOf(edge)));
  t.notMatch(await readinessOf(leader), /differs/);
  edge.reconfigure(after, STREAM_KEYS as typeof SERVICE_KEYS);
  await untilReady(edge);
  await untilReady(leader);
});

async function skippedOf({ adminUrl }: TestService): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^tickseal_cluster_skipped_records_total (\d+)$/m.exec(text)?.[1]);
}

async function readinessOf(service: TestService): Promise<string> {
  return (await fetch(`${service.adminUrl}/readyz`)).text();
}
