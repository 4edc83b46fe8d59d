import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { publishMessage } from '../../../src/client/index.js';
import { decodeOutcome, encodeSubmit } from '../../../src/cluster/publishers/submit.js';
import { readPublishMessage } from '../../../src/ingest/message.js';
import { packMessage } from '../../../src/ingest/packed_message.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { get, publisherSigner, type SERVICE_KEYS, sha256, type TestService, TOKEN } from '../harness.js';
import { nodesOf, STREAM_KEYS, TestCluster, untilReady } from './nodes.js';

test('a stolen edge cannot write into answers of other nodes', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const leader = await cluster.node(1, 'aggregator');
  await untilReady(leader);
  await eventually(async () => (await nodesOf(leader)).some(({ role }) => role === 'leader'));
  const thief = await connect({ servers: [...cluster.servers] });
  t.teardown(() => thief.close());
  const submit = async (number: number, metadata: string) => {
    const timestampNs = BigInt(Date.now()) * 1_000_000n + BigInt(number);
    const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: 5_000n, timestampNs });
    const read = readPublishMessage(publishMessage('trace', [update]), 10);
    if (!read.ok) throw new Error(read.error);
    const [raw] = read.updates;
    const bytes = encodeSubmit({
      session: 'thief',
      number,
      oldest: number,
      again: false,
      durable: false,
      type: 'evm',
      caller: { token: sha256(TOKEN) },
      message: packMessage({ ...read, updates: [{ ...raw!, metadata }] }),
    });
    const answers = [1, 2, 3].map((epoch) =>
      thief.request(`ts.main.in.4.${epoch}`, bytes, { timeout: 5_000 }),
    );
    return decodeOutcome((await Promise.any(answers)).data);
  };
  t.match(await submit(1, '{}}],"price":"1'), {
    ok: true,
    accepted: [],
    rejected: new Map([['BTCUSD', /unreadable/]]),
  });
  t.match(await submit(2, '{"a":1}'), { ok: true, accepted: ['BTCUSD'] });
  const latest = await eventually(async () => {
    const answer = await get(`${leader.url}/v1/prices/latest?assets=BTCUSD`);
    const text = await answer.text();
    return text.includes('BTCUSD') && JSON.stringify(JSON.parse(text));
  });
  t.match(latest, '"metadata":{"a":1}');
});

test('nodes are ready again when all have the configuration of a reload', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const before = { assets: [{ id: 1, symbol: 'A' }] };
  const after = {
    assets: [
      { id: 1, symbol: 'A' },
      { id: 2, symbol: 'B' },
    ],
  };
  const leader = await cluster.node(1, 'aggregator', before);
  await untilReady(leader);
  const edge = await cluster.node(2, 'edge', before);
  await untilReady(edge);
  leader.reconfigure(after);
  await eventually(async () => /differs/.test(await readinessOf(edge)));
  t.notMatch(await readinessOf(leader), /differs/);
  edge.reconfigure(after, STREAM_KEYS as typeof SERVICE_KEYS);
  await untilReady(edge);
  await untilReady(leader);
});

async function readinessOf(service: TestService): Promise<string> {
  return (await fetch(`${service.adminUrl}/readyz`)).text();
}
