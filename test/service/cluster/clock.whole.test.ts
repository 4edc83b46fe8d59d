import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { systemClock } from '../../../src/clock/clock.js';
import type { Clock, TimeNs } from '../../../src/model/time.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

test('a node with a wrong clock leads until another one can', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const clock = systemClock();
  const ahead: Clock = { nowNs: () => (clock.nowNs() + 5_000_000_000n) as TimeNs };
  const wrong = await cluster.node(1, 'aggregator', {}, { clock: ahead });
  const reasons = async () => await (await fetch(`${wrong.adminUrl}/readyz`)).text();
  await eventually(async () => /the clock is 5\.\d s ahead of the NATS servers/.test(await reasons()));
  await eventually(async () => (await nodesOf(wrong)).some(({ role }) => role === 'leader'));
  const right = await cluster.node(2, 'aggregator');
  await untilReady(right);
  await eventually(async () =>
    (await nodesOf(right)).some(({ node, role }) => node === 2 && role === 'leader'),
  );
  await right.stop();
  t.ok(
    await eventually(async () =>
      (await nodesOf(wrong)).some(({ node, role }) => node === 1 && role === 'leader'),
    ),
    'nobody else is there',
  );
});
