import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { TestCluster, untilReady } from './nodes.js';

test('the operator reads within 15 s that a stream was deleted', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const node = await cluster.node(1, 'aggregator');
  const edge = await cluster.node(3, 'edge');
  await untilReady(node);
  await untilReady(edge);
  const connection = await connect({ servers: [...cluster.servers] });
  t.teardown(() => connection.close());
  const { streams } = await jetstreamManager(connection);
  for (const stream of ['TS_MAIN_CANDLES', 'TS_MAIN_LOG']) {
    const startMs = performance.now();
    await streams.delete(stream);
    const reason = `the NATS servers have no stream ${stream} any more: it was deleted`;
    await eventually(async () => (await (await fetch(`${node.adminUrl}/readyz`)).text()).includes(reason));
    t.ok(performance.now() - startMs < 15_000, stream);
    if (stream === 'TS_MAIN_CANDLES')
      t.equal((await fetch(`${edge.adminUrl}/readyz`)).status, 200, 'an edge serves on without it');
  }
});
