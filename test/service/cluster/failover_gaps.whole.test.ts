import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { createClient } from '../../../src/client/node.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { TcpProxy } from '../../tcp_proxy.js';
import { SteadyFeed, StreamReader } from '../gap_reader.js';
import { type TestService, TOKEN } from '../harness.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

/** An age that no payload reaches. The nodes and readers share a process, and a dropped payload of a busy machine is a gap. */
const MAX_AGE_MS = 60_000;

/** Checks that a reader received each signed aggregate once, or with a gap around it. @param url a service that has all */
async function checkReader(t: Test, name: string, url: string, { ticks, gaps }: StreamReader): Promise<void> {
  const isInOrder = ticks.every(({ timestampNs }, i) => i === 0 || timestampNs > ticks[i - 1]!.timestampNs);
  t.ok(isInOrder, `${name}: in order`);
  const prices = new Set(ticks.map(({ price }) => price));
  t.equal(prices.size, ticks.length, `${name}: none twice`);
  const client = createClient({ urls: url, token: TOKEN, signers: 'unchecked' });
  t.teardown(() => client.close());
  const range = { from: ticks[0]!.timestampNs, to: ticks.at(-1)!.timestampNs, detail: 'signature' } as const;
  const live = new Set(ticks.flatMap(({ price, backfilled }) => (backfilled ? [] : [price])));
  const missing: bigint[] = [];
  for await (const { price, timestampNs } of client.range('BTCUSD', range)) {
    const isInGap = gaps.some(({ fromNs, toNs }) => timestampNs > fromNs && timestampNs < toNs);
    if (!live.has(price) && !(isInGap && prices.has(price))) missing.push(price);
  }
  t.same(missing, [], `${name}: all of ${prices.size}`);
}

test(
  'a failover is no gap for a reader of a node that lives, and costs no reader with backfill an aggregate',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const root = t.testdir({ node1: {}, node2: {}, node3: {} });
    const node = async (number: number, role: 'aggregator' | 'edge') => {
      const dir = `${root}/node${number}`;
      const assets = [{ id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' }];
      const storage = { dir: `${dir}/store`, past: { proofs: '7d', signatures: '90d' } };
      const started = await cluster.node(number, role, { assets, storage }, { dir });
      await untilReady(started);
      return started;
    };
    const leader = await node(1, 'aggregator');
    await eventually(async () => (await nodesOf(leader)).some(({ role }) => role === 'leader'));
    const standby = await node(2, 'aggregator');
    const edge = await node(3, 'edge');
    const portOf = ({ url }: TestService) => Number(new URL(url).port);
    const proxy = await TcpProxy.start(portOf(leader));
    t.teardown(() => proxy.stop());
    const feed = await SteadyFeed.start(edge);
    const readers = {
      ofEdge: new StreamReader(t, edge.url, 'live', MAX_AGE_MS),
      ofBoth: new StreamReader(t, [leader.url, standby.url], 'live', MAX_AGE_MS),
      moved: new StreamReader(t, `http://127.0.0.1:${proxy.port}`, 'whole', MAX_AGE_MS),
    };
    const all = Object.values(readers);
    const grow = async (more: number) => {
      const seen = all.map(({ ticks }) => ticks.length);
      await eventually(() => all.every(({ ticks }, i) => ticks.length > seen[i]! + more));
    };
    await grow(5);
    await eventually(() => readers.ofBoth.open.size === 2);
    await grow(5);
    // New connections reach the standby, as if a load balancer had noticed the end of the leader.
    proxy.targetPort = portOf(standby);
    await leader.stop();
    await eventually(async () =>
      (await nodesOf(edge)).some(({ node: number, role }) => number === 2 && role === 'leader'),
    );
    await grow(10);
    await feed.stop(...all);
    t.same(
      all.map(({ gaps }) => gaps.length),
      [0, 0, 1],
      'a gap only for the reader whose connection was lost',
    );
    for (const [name, reader] of Object.entries(readers)) await checkReader(t, name, edge.url, reader);
  },
);
