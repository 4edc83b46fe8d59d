import { test } from 'tap';
import { publishMessage } from '../../../src/client/index.js';
import { natsServers, needsNatsServer } from '../../cluster/nats/servers.js';
import { publisherSigner, TestSocket } from '../harness.js';
import { TestCluster, untilReady } from './nodes.js';

const SYMBOLS = Array.from({ length: 200 }, (_, i) => `A${i}`);
const ANSWER_MS_MAX = 5_000;

test(
  '200 updates in one message are acknowledged, at the leader and at an edge',
  needsNatsServer(),
  async (t) => {
    // The smallest limit with which a node accepts a server.
    const cluster = new TestCluster(t, (await natsServers(t, 1, 'max_payload: 1MB')).urls);
    const sections = {
      assets: SYMBOLS.map((symbol, i) => ({ id: i + 1, symbol })),
      publishers: [{ key: publisherSigner(1).publicKey, signature_type: 'evm', oracle_id: 'tests' }],
    };
    const leader = await cluster.node(1, 'aggregator', sections);
    await untilReady(leader);
    const edge = await cluster.node(3, 'edge', sections);
    await untilReady(edge);
    for (const node of [leader, edge]) {
      const publisher = await TestSocket.open(`${node.socketUrl}/evm/publish?ack=durable`);
      const metadata = { text: 'x'.repeat(3_000) };
      const timestampNs = BigInt(Date.now()) * 1_000_000n;
      const updates = SYMBOLS.map((symbol) => ({
        ...publisherSigner(1).sign({ symbol, price: 7n, timestampNs }),
        metadata,
      }));
      const startMs = performance.now();
      publisher.send(publishMessage('trace', updates));
      t.match(await publisher.nextJson(), { type: 'ack', accepted: { length: 200 } });
      t.ok(performance.now() - startMs < ANSWER_MS_MAX);
    }
  },
);
