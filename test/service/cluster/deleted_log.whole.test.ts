import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { TestCluster, untilReady } from './nodes.js';

test('the operator reads that the stream of the log was deleted', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const node = await cluster.node(1, 'aggregator');
  await untilReady(node);
  const connection = await connect({ servers: [...cluster.servers] });
  t.teardown(() => connection.close());
  const manager = await jetstreamManager(connection);
  await manager.streams.delete('TS_MAIN_LOG');
  const reason = 'the NATS servers have no stream TS_MAIN_LOG any more: it was deleted';
  const readiness = async () => (await fetch(`${node.adminUrl}/readyz`)).text();
  t.ok(await eventually(async () => (await readiness()).includes(reason)));
});
