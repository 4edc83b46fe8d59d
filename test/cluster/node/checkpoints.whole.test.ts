import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { publishMessage } from '../../../src/client/index.js';
import { systemClock } from '../../../src/clock/clock.js';
import { CHECKPOINT_S } from '../../../src/model/node_list.js';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { nodesOf, TestCluster } from '../../service/cluster/nodes.js';
import { get, publisherSigner, type TestService, TestSocket } from '../../service/harness.js';
import { needsNatsServer } from '../nats/servers.js';

/** Returns the time of the served aggregate's signature; 0 when there is no aggregate. */
async function signedNs({ url }: TestService): Promise<bigint> {
  const text = await (await get(`${url}/v1/prices/latest?assets=BTCUSD`)).text();
  // The time is read from the text, because JSON.parse would round it.
  return BigInt(/"timestamped_signature":\{"signature":\{[^}]*\},"timestamp":(\d+)/.exec(text)?.[1] ?? 0);
}

test(
  'a new node that leads has the inputs that count for longer than the log keeps records',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const clock = new FakeClock(systemClock());
    const sections = { assets: [{ symbol: 'BTCUSD', id: 1, max_age: '1h' }] };
    const leader = await cluster.node(1, 'aggregator', sections, { clock });
    const publisher = await TestSocket.open(`${leader.socketUrl}/evm/publish?ack=durable`);
    const signed = publisherSigner(1).sign({ symbol: 'BTCUSD', price: 7n, timestampNs: clock.nowNs() });
    publisher.send(publishMessage('once', [signed]));
    t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });

    const connection = await connect({ servers: [...cluster.servers] });
    t.teardown(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const { state } = await streams.info('TS_MAIN_LOG');
    clock.advance(BigInt(CHECKPOINT_S + 100) * NS_PER_SECOND);
    const checkpointNs = clock.nowNs();
    // The clock is now ahead of the servers' clocks, so signed times grow only by the smallest step.
    await eventually(() => clock.nowNs() > checkpointNs + NS_PER_SECOND);
    const beforeNs = await signedNs(leader);
    await eventually(async () => (await signedNs(leader)) > beforeNs);
    // The log refuses to be purged. So the test sets a limit with which the log keeps only the newer records.
    const { config, state: now } = await streams.info('TS_MAIN_LOG');
    await streams.update('TS_MAIN_LOG', { ...config, max_msgs: now.last_seq - state.last_seq });
    t.ok((await streams.info('TS_MAIN_LOG')).state.first_seq > state.last_seq);
    await streams.update('TS_MAIN_LOG', config);

    // The next node has the correct time, because a node with a wrong clock soon stops signing.
    const next = await cluster.node(2, 'aggregator', sections);
    await eventually(async () => (await nodesOf(leader)).length === 2);
    await leader.stop();
    await eventually(async () =>
      (await nodesOf(next)).some(({ node, role }) => node === 2 && role === 'leader'),
    );
    const ledNs = await signedNs(next);
    await eventually(async () => (await signedNs(next)) > ledNs);
    const again = await TestSocket.open(`${next.socketUrl}/evm/publish?ack=durable`);
    again.send(publishMessage('again', [signed]));
    t.match(await again.nextJson(), { type: 'ack', accepted: [], rejected: { BTCUSD: /./ } });
  },
);
