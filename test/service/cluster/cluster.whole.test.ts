import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { publishMessage, verifyPayload } from '../../../src/client/index.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { get, publisherSigner, type TestService, TestSocket } from '../harness.js';
import { TestCluster, untilReady } from './nodes.js';

function priceMessage(price: bigint): string {
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  return publishMessage(`trace ${price}`, [
    publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs }),
  ]);
}

function latestPrice(service: TestService): Promise<string | undefined> {
  return servedPrice(service, 'latest?assets=BTCUSD');
}

function recentPrice(service: TestService, second: number): Promise<string | undefined> {
  return servedPrice(service, `recent?assets=BTCUSD&timestamp=${second}`);
}

async function servedPrice({ url }: TestService, query: string): Promise<string | undefined> {
  const response = await get(`${url}/v1/prices/${query}`);
  const body = (await response.json()) as { data?: { BTCUSD?: { price: string } } };
  return body.data?.BTCUSD?.price;
}

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
  const publisher = await TestSocket.open(`${leader.socketUrl}/evm/publish?ack=durable`);
  publisher.send(priceMessage(7n));
  t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
  for (const stream of streams) {
    const { p } = JSON.parse(await stream.next()) as { p: string };
    t.match(verifyPayload(p, { signers: 'unchecked', taxonomyId: 1 }).payload?.assets, [
      { id: 1, value: 7n },
    ]);
  }
  for (const node of [leader, standby, edge]) await eventually(async () => (await latestPrice(node)) === '7');

  // Publishers receive the same answers from each node.
  let price = 7n;
  for (const node of [edge, standby]) {
    const other = await TestSocket.open(`${node.socketUrl}/evm/publish?ack=durable`);
    other.send(priceMessage(++price));
    t.match(await other.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
    other.send(
      publishMessage('bad', [{ ...publisherSigner(9).sign({ symbol: 'BTCUSD', price, timestampNs: 1n }) }]),
    );
    t.match(await other.nextJson(), { type: 'ack', accepted: [], rejected: { BTCUSD: /./ } });
    await eventually(async () => (await latestPrice(edge)) === String(price));
  }

  const kept = await TestSocket.open(`${edge.socketUrl}/evm/publish?ack=durable`);
  await leader.stop();
  kept.send(priceMessage(++price));
  t.match(await kept.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
  await eventually(async () => {
    const { data } = (await (await get(`${edge.url}/v1/nodes`)).json()) as {
      data: { self: number; nodes: { node: number; role: string }[] };
    };
    return data.self === 3 && data.nodes.some(({ node, role }) => node === 2 && role === 'leader');
  });
  for (const node of [standby, edge])
    await eventually(async () => (await latestPrice(node)) === String(price));
});

test('what waits at a standby is answered when it begins to lead', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const leader = await cluster.node(1, 'aggregator');
  await untilReady(leader);
  const standby = await cluster.node(2, 'aggregator');
  await untilReady(standby);
  const publisher = await TestSocket.open(`${standby.socketUrl}/evm/publish?ack=durable`);
  const stopped = leader.stop();
  let price = 7n;
  for (let i = 0; i < 20; i++) publisher.send(priceMessage(++price));
  for (let i = 0; i < 20; i++) t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
  await stopped;
});

test(
  'a node that was away has what it missed, and takes publishers at once',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const leader = await cluster.node(1, 'aggregator');
    await untilReady(leader);
    const dir = t.testdir();
    const first = await cluster.node(3, 'edge', {}, { dir });
    await untilReady(first);
    await first.stop();
    const publisher = await TestSocket.open(`${leader.socketUrl}/evm/publish?ack=durable`);
    publisher.send(priceMessage(4n));
    t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
    // The test waits longer, because the clocks of the test and of the service may differ by some milliseconds.
    const second = Math.floor(Date.now() / 1000) + 1;
    await eventually(() => Date.now() > (second + 1) * 1000 + 50);
    publisher.send(priceMessage(5n));
    t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });

    // The node's threads read the store. The threads did not receive the records that the node had missed.
    const again = await cluster.node(3, 'edge', { listen: { port: 0, threads: 2 } }, { dir });
    await untilReady(again);
    await eventually(async () => (await latestPrice(again)) === '5');
    await eventually(async () => (await recentPrice(again, second)) === '4');
    // The leader's claim is in a later part of the log than the part that this node reads now.
    const late = await TestSocket.open(`${again.socketUrl}/evm/publish?ack=durable`);
    late.send(priceMessage(6n));
    t.match(await late.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
  },
);
