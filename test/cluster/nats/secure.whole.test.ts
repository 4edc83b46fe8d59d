import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START } from '../../../src/cluster/bus.js';
import { openNatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { credentialsOf, SHIPPED_ACCOUNTS } from './accounts.js';
import { natsBus, natsOptions, natsServers, needsNatsServer } from './servers.js';

const bytes = new Uint8Array(10);

test('the shipped users can do their work and no more', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 3, SHIPPED_ACCOUNTS);
  const notices: string[] = [];
  const onNotice = (text: string) => notices.push(text);
  const aggregator = await natsBus(t, urls, { credentials: `${credentialsOf(1)}\n`, onNotice });
  const edge = await natsBus(t, urls, { role: 'edge', credentials: credentialsOf(3), onNotice });
  const heard: string[] = [];
  edge.onCommitted(({ id }) => heard.push(id));
  for (const topic of ['tick', 'node.*.*']) edge.listen(topic, (_, own) => heard.push(own));
  aggregator.listen('node.*.*', (_, topic) => heard.push(`leader ${topic}`));
  for (const topic of ['full.1', 'in.*.1']) aggregator.answer(topic, async () => bytes);
  // Messages that are sent before all servers know a subscription are lost.
  await eventually(() => {
    for (const topic of ['tick', 'node.1.aggregator']) aggregator.send(topic, bytes);
    return ['tick', 'node.1.aggregator'].every((topic) => heard.includes(topic));
  });
  t.equal(await aggregator.append(LOG_START, 'a-1', bytes), 1);
  await aggregator.candles.put(['b7', 'd', '1'], bytes);
  await eventually(() => edge.ask('full.1', bytes, 1_000).catch(() => undefined));
  t.equal((await edge.ask('in.3.1', bytes, 60_000)).length, bytes.length);
  edge.send('node.3.edge', bytes);
  await eventually(() => ['a-1', 'leader node.3.edge'].every((one) => heard.includes(one)));
  await eventually(async () => (await edge.read(0)).length === 1);
  for await (const { key } of edge.candles.read()) t.same(key, ['b7', 'd', '1']);
  t.same(notices, [], 'nobody was refused anything');
  const wrong = openNatsBus(natsOptions(urls, { credentials: 'node-1:wrong' }));
  await t.rejects(wrong, /^no connection to nats:.*Authorization Violation/i);

  heard.length = 0;
  await t.rejects(edge.append({ sequence: 1, id: 'a-1' }, 'e-2', bytes), /permission/i);
  await t.rejects(edge.candles.put(['b7', 'd', '1'], bytes), /permission/i);
  edge.send('tick', bytes);
  edge.send('live.e-2', bytes);
  edge.send('node.1.aggregator', bytes);
  edge.send('node.4.edge', bytes);
  await t.rejects(edge.ask('in.4.1', bytes, 1_000), /permission/i);
  await eventually(() =>
    ['tick', 'live.e-2', 'node.1.aggregator', 'node.4.edge'].every((topic) =>
      notices.some((text) => text.includes(`"ts.main.${topic}"`)),
    ),
  );
  t.same(heard, []);
  const { last } = await eventually(() => aggregator.extent().catch(() => undefined));
  t.equal(last.sequence, 1);
  edge.answer('full.1', async () => bytes);
  await eventually(() => notices.some((text) => text.includes('refuses a subscription to ts.main.full.1')));
  const operator = await connect({
    servers: [...urls],
    user: 'operator',
    pass: 'o-secret',
    inboxPrefix: '_INBOX.operator',
  });
  t.teardown(() => operator.close());
  const { streams } = await jetstreamManager(operator);
  t.equal((await streams.info('TS_MAIN_LOG')).state.last_seq, 1);
  await t.rejects(streams.delete('TS_MAIN_LOG'), /permission/i);
});

// Attacks on the other nodes of a cluster. The attacker has only the credentials of an edge.

test('no answer to a stolen edge reaches the log or another node', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1, SHIPPED_ACCOUNTS);
  const leader = await natsBus(t, urls, { credentials: credentialsOf(1) });
  const standby = await natsBus(t, urls, { credentials: credentialsOf(2) });
  const edge = await natsBus(t, urls, { role: 'edge', credentials: credentialsOf(3) });
  const [user, pass] = credentialsOf(4).split(':') as [string, string];
  const thief = await connect({ servers: [...urls], user, pass, inboxPrefix: '_INBOX.edge' });
  t.teardown(() => thief.close());
  t.equal(await leader.append(LOG_START, 'a-1', bytes), 1);
  await leader.candles.put(['b7', 'd', '1'], bytes);
  for (const topic of ['full.1', 'in.*.1', 'ask.past.*.1']) leader.answer(topic, async () => bytes);
  await eventually(() => edge.ask('full.1', bytes, 1_000).catch(() => undefined));
  const heard: string[] = [];
  for (const bus of [leader, standby, edge]) {
    bus.onCommitted(({ id }) => heard.push(id));
    for (const topic of ['tick', 'node.*.*']) bus.listen(topic, (_, own) => heard.push(own));
  }
  for (const question of [
    'ts.main.full.1',
    'ts.main.in.4.1',
    'ts.main.ask.past.4.1',
    'ts.main.node.4.edge',
    '$JS.API.STREAM.INFO.TS_MAIN_LOG',
    '$JS.API.STREAM.MSG.GET.TS_MAIN_LOG',
    '$JS.API.DIRECT.GET.TS_MAIN_LOG',
    '$JS.API.DIRECT.GET.TS_MAIN_CANDLES',
  ])
    for (const reply of ['log.x', 'candles.b7.d.2', 'live.x', 'tick', 'node.1.aggregator', 'in.3.1'])
      thief.publish(question, '{"seq":1}', { reply: `ts.main.${reply}` });
  // The servers handle the messages of a connection in order, and the answers come back in order.
  await thief.flush();
  await thief.request('$JS.API.STREAM.INFO.TS_MAIN_LOG', '', { timeout: 10_000 }).catch(() => undefined);
  // The thief's messages reach every node before the leader's messages.
  leader.send('tick', bytes);
  await eventually(() => heard.filter((one) => one === 'tick').length === 3);
  t.same(
    heard.filter((one) => one !== 'tick' && one !== 'node.4.edge'),
    [],
  );
  t.same((await leader.extent()).last, { sequence: 1, id: 'a-1' });
  for await (const { key } of leader.candles.read()) t.same(key, ['b7', 'd', '1']);

  // The thief takes no connections of other nodes, and few subscriptions.
  let opened = 1;
  for (; opened < 100; opened++) {
    const more = await connect({ servers: [...urls], user, pass, reconnect: false }).catch(() => undefined);
    if (more === undefined) break;
    t.teardown(() => more.close());
  }
  t.equal(opened, 16);
  const problem = statusErrorOf(thief);
  for (let i = 0; i < 100; i++) thief.subscribe(`_INBOX.edge.${i}`);
  t.match((await problem)?.message, /maximum subscriptions/i);
});

test(
  'requests are answered to inboxes alone, and only a record of the log is one',
  needsNatsServer(),
  async (t) => {
    // Without accounts, any client can impersonate any node.
    const { urls } = await natsServers(t, 1);
    const leader = await natsBus(t, urls);
    const follower = await natsBus(t, urls, { role: 'edge' });
    const thief = await connect({ servers: [...urls] });
    t.teardown(() => thief.close());
    leader.answer('full.1', async () => bytes);
    await eventually(() => follower.ask('full.1', bytes, 1_000).catch(() => undefined));
    for (const reply of ['ts.main.log.x', 'ts.main.tick', '$JS.API.STREAM.INFO.TS_MAIN_LOG', '_INBOXES.x'])
      thief.publish('ts.main.full.1', bytes, { reply });
    t.equal((await thief.request('ts.main.full.1', bytes)).data.length, bytes.length);
    t.equal(leader.refusedMessages, 4);

    await leader.candles.put(['b7', 'd', '1'], bytes);
    t.equal(await leader.append(LOG_START, 'a-1', bytes), 1);
    const committed: unknown[] = [];
    follower.onCommitted(({ sequence, id }) => committed.push([sequence, id]));
    await follower.extent();
    const reply = 'ts.main.live.x';
    thief.publish('$JS.API.DIRECT.GET.TS_MAIN_CANDLES', '{"seq":1}', { reply });
    thief.publish('$JS.API.DIRECT.GET.TS_MAIN_LOG', '{"seq":1}', { reply });
    thief.publish(reply, 'no record');
    await eventually(() => follower.refusedMessages >= 2 && committed.length > 0);
    t.same(committed, [[1, 'a-1']], 'the record of the log again, under its own ID');
    t.equal(follower.refusedMessages, 2);
  },
);

async function statusErrorOf(client: NatsConnection): Promise<Error | undefined> {
  for await (const status of client.status()) if (status.type === 'error') return status.error;
  return undefined;
}
