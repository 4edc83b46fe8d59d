import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { publishMessage } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import { CHECKPOINT_S } from '../../src/model/node_list.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { Checkpoints } from '../../src/node/checkpoints.js';
import { FakeClock } from '../clock/fake_clock.js';
import { needsNatsServer } from '../cluster/nats/servers.js';
import { nodesOf, TestCluster } from '../service/cluster/nodes.js';
import { get, publisherSigner, type TestService, TestSocket } from '../service/harness.js';

/** Returns the time at which the served aggregate was signed; 0 without one. */
async function signedNs({ url }: TestService): Promise<bigint> {
  const text = await (await get(`${url}/v1/prices/latest?assets=BTCUSD`)).text();
  // JSON.parse would round the time.
  return BigInt(/"timestamped_signature":\{"signature":\{[^}]*\},"timestamp":(\d+)/.exec(text)?.[1] ?? 0);
}

const START_S = 1_700_000_000;
const timeOf = (second: number) => (BigInt(second) * NS_PER_SECOND) as TimeNs;

function checkpointsOf(assetCount: number) {
  const state = { assetCount, written: [] as string[] };
  const checkpoints = new Checkpoints<number>(
    {
      assets: () => Array.from({ length: state.assetCount }, (_, index) => index),
      putAgain: (asset, beforeNs) => state.written.push(`${asset} before ${beforeNs / NS_PER_SECOND}`),
    },
    timeOf(START_S),
  );
  return {
    state,
    /** Returns the assets that are written again at this second. */
    at(second: number): string[] {
      checkpoints.tick(timeOf(second));
      return state.written.splice(0);
    },
  };
}

test('each asset has its second of a round', async (t) => {
  const { at } = checkpointsOf(2 * CHECKPOINT_S + 1);
  const counts = new Set<number>();
  const assets: string[] = [];
  for (let second = START_S + 1; second <= START_S + CHECKPOINT_S; second++) {
    const written = at(second);
    counts.add(written.length);
    for (const one of written) {
      const [asset, beforeS] = one.split(' before ');
      assets.push(asset!);
      if (beforeS !== String(second - CHECKPOINT_S)) t.fail(`${one} at ${second}`);
    }
    if (at(second).length > 0) t.fail(`twice at ${second}`);
  }
  t.same([...counts].sort(), [2, 3], 'a few at a time');
  t.equal(new Set(assets).size, 2 * CHECKPOINT_S + 1);
  t.equal(assets.length, 2 * CHECKPOINT_S + 1);
});

test('a clock that is stepped, and assets that come', async (t) => {
  const { at, state } = checkpointsOf(3);
  const roundS = START_S - (START_S % CHECKPOINT_S) + 10 * CHECKPOINT_S;
  t.same(at(roundS + 2).length, 3, 'a pause of many rounds: each once');
  t.same(at(roundS + CHECKPOINT_S).length, 1);
  t.same(at(START_S), [], 'back');
  state.assetCount = 4;
  t.same(at(roundS + 3).length, 4, 'and forward');
});

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
    await eventually(async () => (await signedNs(leader)) > checkpointNs + NS_PER_SECOND);
    // The stream refuses a purge, so the test makes it keep only later messages.
    const { config, state: now } = await streams.info('TS_MAIN_LOG');
    await streams.update('TS_MAIN_LOG', { ...config, max_msgs: now.last_seq - state.last_seq });
    t.ok((await streams.info('TS_MAIN_LOG')).state.first_seq > state.last_seq);
    await streams.update('TS_MAIN_LOG', config);

    const next = await cluster.node(2, 'aggregator', sections, { clock });
    await eventually(async () => (await nodesOf(leader)).length === 2);
    await leader.stop();
    await eventually(async () =>
      (await nodesOf(next)).some(({ node, role }) => node === 2 && role === 'leader'),
    );
    const ledNs = clock.nowNs();
    await eventually(async () => (await signedNs(next)) > ledNs);
    const again = await TestSocket.open(`${next.socketUrl}/evm/publish?ack=durable`);
    again.send(publishMessage('again', [signed]));
    t.match(await again.nextJson(), { type: 'ack', accepted: [], rejected: { BTCUSD: /./ } });
  },
);
