import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { verifyPayload } from '../../../src/client/index.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { Feed, units } from '../feed.js';
import { type SERVICE_KEYS, type TestService, TestSocket } from '../harness.js';
import { latestWhen } from '../publishing.js';
import { nodesOf, STREAM_KEYS, TestCluster, untilReady } from './nodes.js';

test('an edge serves what the leader makes, and a standby goes on', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const leader = await cluster.node(1, 'aggregator');
  await untilReady(leader);
  const standby = await cluster.node(2, 'aggregator');
  const edge = await cluster.node(3, 'edge');
  await Promise.all([standby, edge].map(untilReady));

  const streams = await Promise.all(
    [leader, standby, edge].map((node) => TestSocket.open(`${node.socketUrl}/ws?message_type=signed_ecdsa`)),
  );
  for (const stream of streams) {
    stream.send({ type: 'subscribe', assets: [1], id: 'x' });
    t.match(await stream.nextJson(), { type: 'subscribe', assets: [1] });
  }
  const publish = async (feed: Feed, price: number) => {
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    for (const node of [standby, edge])
      await latestWhen(node, 'BTCUSD', (found) => found.price === String(units(price)));
  };
  await publish(await Feed.open(leader, { ack: 'durable' }), 7);
  for (const stream of streams) {
    const { p } = (await stream.nextJson()) as { p: string };
    t.match(verifyPayload(p, { signers: 'unchecked', taxonomyId: 1 }).payload?.assets, [
      { id: 1, value: units(7) },
    ]);
  }

  // Publishers receive the same answers from each node.
  for (const [i, node] of [edge, standby].entries()) {
    const feed = await Feed.open(node, { ack: 'durable' });
    await publish(feed, 8 + i);
    const refused = await feed.publish({ symbol: 'BTCUSD', price: units(1), publisher: 9 });
    t.match(refused, { type: 'ack', accepted: [], rejected: { BTCUSD: /./ } });
  }

  const kept = await Feed.open(edge, { ack: 'durable' });
  await leader.stop();
  await publish(kept, 10);
  await eventually(async () =>
    (await nodesOf(edge)).some(({ node, role }) => node === 2 && role === 'leader'),
  );
});

test('nodes are ready again when all have the configuration of a reload', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const before = { assets: [{ id: 1, symbol: 'A' }] };
  const after = { assets: [...before.assets, { id: 2, symbol: 'B' }] };
  const leader = await cluster.node(1, 'aggregator', before);
  await untilReady(leader);
  const edge = await cluster.node(2, 'edge', before);
  await untilReady(edge);
  const readiness = async ({ adminUrl }: TestService) => (await fetch(`${adminUrl}/readyz`)).text();
  leader.reconfigure(after);
  await eventually(async () => /differs/.test(await readiness(edge)));
  t.notMatch(await readiness(leader), /differs/);
  edge.reconfigure(after, STREAM_KEYS as typeof SERVICE_KEYS);
  await Promise.all([edge, leader].map(untilReady));
});
