import { test } from 'tap';
import { TcpProxy } from '../../../scripts/load/tcp_proxy.js';
import { eventually } from '../../../scripts/load/wait.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { checkReader, SteadyFeed, StreamReader } from '../gap_reader.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

/** An age that no payload reaches. The nodes and readers share a process, and a dropped payload of a busy machine is a gap. */
const MAX_AGE_MS = 60_000;

test(
  'a failover is no gap for a reader of a node that lives, and costs no reader with backfill an aggregate',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const root = t.testdir({ node1: {}, node2: {}, node3: {} });
    const node = async (number: number, role: 'aggregator' | 'edge') => {
      const dir = `${root}/node${number}`;
      const started = await cluster.node(
        number,
        role,
        {
          assets: [{ id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' }],
          storage: { dir: `${dir}/store`, past: { proofs: '7d', signatures: '90d' } },
        },
        { dir },
      );
      await untilReady(started);
      return started;
    };
    const leader = await node(1, 'aggregator');
    await eventually(async () => (await nodesOf(leader)).some(({ role }) => role === 'leader'));
    const standby = await node(2, 'aggregator');
    const edge = await node(3, 'edge');
    const portOf = ({ url }: { url: string }) => Number(new URL(url).port);
    const proxy = await TcpProxy.start(portOf(leader));
    t.teardown(() => proxy.stop());
    const feed = await SteadyFeed.start(edge);
    const ofEdge = new StreamReader(t, edge.url, 'live', MAX_AGE_MS);
    const ofBoth = new StreamReader(t, [leader.url, standby.url], 'live', MAX_AGE_MS);
    const moved = new StreamReader(t, `http://127.0.0.1:${proxy.port}`, 'whole', MAX_AGE_MS);
    const readers = [ofEdge, ofBoth, moved];
    const grow = async () => {
      const seen = readers.map(({ ticks }) => ticks.length);
      await eventually(() => readers.every(({ ticks }, i) => ticks.length > seen[i]! + 20));
    };
    await grow();
    await eventually(() => ofBoth.open.size === 2);
    await grow();
    // New connections reach the standby, as if a load balancer had noticed the end of the leader.
    proxy.targetPort = portOf(standby);
    await leader.stop();
    await eventually(async () =>
      (await nodesOf(edge)).some(({ node: number, role }) => number === 2 && role === 'leader'),
    );
    await grow();
    await feed.stop(...readers);
    t.same(
      readers.map(({ gaps }) => gaps.length),
      [0, 0, 1],
      'a gap only for the reader whose connection was lost',
    );
    for (const [name, reader] of Object.entries({ ofEdge, ofBoth, moved }))
      await checkReader(t, name, edge.url, reader);
  },
);
