import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { get, type TestService } from '../harness.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

test(
  'every node lists the keys of all, and those of a leader that has died',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const first = await cluster.node(1, 'aggregator');
    await untilReady(first);
    const otherKeys = { evm: Buffer.alloc(32, 0x33), stark: Buffer.alloc(32, 0x02) };
    const second = await cluster.node(2, 'aggregator', {}, { keys: otherKeys });
    const edge = await cluster.node(3, 'edge');
    await Promise.all([second, edge].map(untilReady));
    for (const node of [first, second, edge])
      await eventually(
        async () => (await keysOf(node)).filter(({ role }) => role === 'aggregate').length === 4,
      );
    const keys = await eventually(async () => {
      const all = await keysOf(edge);
      return all.length > 0 && all;
    });
    t.same(
      keys.map(({ node, role, signature_type }) => [node, role, signature_type]),
      [
        [1, 'aggregate', 'evm'],
        [1, 'aggregate', 'stark'],
        [1, 'stream', 'evm'],
        [2, 'aggregate', 'evm'],
        [2, 'aggregate', 'stark'],
        [2, 'stream', 'evm'],
        [3, 'stream', 'evm'],
      ],
    );
    const { data } = (await (await get(`${edge.url}/v1/taxonomy`)).json()) as {
      data: { signers: { role: string; address: string }[] };
    };
    t.same(
      data.signers.map(({ role }) => role),
      ['aggregate', 'aggregate', 'aggregate', 'aggregate', 'stream', 'stream', 'stream'],
    );
    t.equal(data.signers[4]!.address, keys.at(-1)!.address, 'of streams its own first');

    await first.abandon();
    await eventually(async () => (await nodesOf(edge)).every(({ node }) => node !== 1));
    await eventually(async () => (await keysOf(edge)).some(({ address }) => address === first.evmAddress));
  },
);

interface Key {
  readonly node: number;
  readonly role: string;
  readonly signature_type: string;
  readonly address: string;
}

/** Returns the keys; empty while the service refuses requests without a token because of the rate limit. */
async function keysOf(service: TestService): Promise<Key[]> {
  const { data = [] } = (await (await get(`${service.url}/v1/signers`)).json()) as { data?: Key[] };
  return data;
}
