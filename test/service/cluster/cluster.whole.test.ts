import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import type { SERVICE_KEYS, TestService } from '../harness.js';
import { STREAM_KEYS, TestCluster, untilReady } from './nodes.js';

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
