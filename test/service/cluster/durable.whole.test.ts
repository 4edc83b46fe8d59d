import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { Feed, units } from '../feed.js';
import type { TestService } from '../harness.js';
import { TestCluster, untilReady } from './nodes.js';

/** Publishes until the answer has this field, because the nodes query the servers only every few seconds. */
async function untilAnswered(node: TestService, field: string) {
  const feed = await Feed.open(node, { ack: 'durable' });
  return eventually(async () => {
    const answer = await feed.publish({ symbol: 'BTCUSD', price: units(1) });
    return field in answer && answer;
  });
}

test('an operator may accept that servers forget, and publishers read it', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const refusing = await cluster.node(1, 'aggregator', {}, { durable: 'disk' });
  const readiness = async () => (await fetch(`${refusing.adminUrl}/readyz`)).text();
  await eventually(async () => /n1 does not say whether it syncs/.test(await readiness()));
  const { error } = await untilAnswered(refusing, 'error');
  t.match(error, /^ack=durable is refused: NATS server n1 does not say/);
  await refusing.stop();
  const leader = await cluster.node(2, 'aggregator');
  await untilReady(leader);
  const edge = await cluster.node(3, 'edge');
  await untilReady(edge);
  for (const node of [leader, edge])
    t.match(await untilAnswered(node, 'accepted'), { accepted: ['BTCUSD'], durable: 'memory' });
  const other = await Feed.open(leader);
  t.notOk('durable' in (await other.publish({ symbol: 'BTCUSD', price: units(2) })));
});
