import { createConnection } from 'node:net';
import { createInterface } from 'node:readline';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START, type LogRecord } from '../../../src/cluster/bus.js';
import { askInVain, besieged, credentialsOf } from './accounts.js';
import { natsBus, natsServers, needsNatsServer } from './servers.js';

// Attacks on the other nodes of a cluster. The attacker has only the credentials of an edge or of the operator.

const bytes = new Uint8Array(10);

test('no answer to a stolen edge reaches the log or another node', needsNatsServer(), async (t) => {
  const { leader, standby, edge, thief } = await besieged(t);
  t.equal(await leader.append(LOG_START, 'a-1', bytes), 1);
  await leader.candles.put(['b7', 'd', '1'], bytes);
  for (const topic of ['full.1', 'in.*.1', 'ask.past.*.1']) leader.answer(topic, async () => bytes);
  await eventually(() => edge.ask('full.1', bytes, 1_000).catch(() => undefined));
  const heard: string[] = [];
  for (const bus of [leader, standby, edge]) {
    bus.onCommitted(({ id }) => heard.push(id));
    for (const topic of ['tick', 'node.*.*']) bus.listen(topic, (_, own) => heard.push(own));
  }
  const questions = [
    'ts.main.full.1',
    'ts.main.in.4.1',
    'ts.main.ask.past.4.1',
    'ts.main.node.4.edge',
    '$JS.API.STREAM.INFO.TS_MAIN_LOG',
    '$JS.API.STREAM.MSG.GET.TS_MAIN_LOG',
    '$JS.API.DIRECT.GET.TS_MAIN_LOG',
    '$JS.API.DIRECT.GET.TS_MAIN_CANDLES',
  ];
  const replies = ['log.x', 'candles.b7.d.2', 'live.x', 'tick', 'node.1.aggregator', 'in.3.1'];
  const requests = questions.flatMap((question) =>
    replies.map((reply): [string, string] => [question, `ts.main.${reply}`]),
  );
  await askInVain(thief, requests, '{"seq":1}');
  // The thief's messages reach every node before the leader's messages.
  leader.send('tick', bytes);
  await eventually(() => heard.filter((one) => one === 'tick').length === 3);
  t.same(
    heard.filter((one) => one !== 'tick' && one !== 'node.4.edge'),
    [],
  );
  t.same((await leader.extent()).last, { sequence: 1, id: 'a-1' });
  for await (const { key } of leader.candles.read()) t.same(key, ['b7', 'd', '1']);
});

test('no answer to the operator reaches the log or a node', needsNatsServer(), async (t) => {
  const { urls, leader } = await besieged(t);
  t.equal(await leader.append(LOG_START, 'a-1', bytes), 1);
  const login = { user: 'operator', pass: 'o-secret', inboxPrefix: '_INBOX.operator' };
  const operator = await connect({ servers: [...urls], ...login });
  t.teardown(() => operator.close());
  const heard: string[] = [];
  for (const topic of ['tick', 'node.*.*']) leader.listen(topic, (_, own) => heard.push(own));
  const questions = ['INFO.TS_MAIN_LOG', 'INFO.TS_MAIN_CANDLES', 'NAMES', 'LIST'];
  const replies = ['log.x', 'candles.b7.d.2', 'live.x', 'tick', 'node.1.aggregator'];
  const requests = questions.flatMap((question) =>
    replies.map((reply): [string, string] => [`$JS.API.STREAM.${question}`, `ts.main.${reply}`]),
  );
  await askInVain(operator, requests);
  const { streams } = await jetstreamManager(operator);
  t.equal((await streams.info('TS_MAIN_LOG')).state.last_seq, 1, 'no answer is in the log');
  t.equal((await streams.info('TS_MAIN_CANDLES')).state.last_seq, 0, 'nor among the candles');
  t.equal(leader.refusedMessages, 0, 'no answer came as a record of the log');
  t.same(heard, []);
  const names = await streams.names().next();
  t.same([...names].sort(), ['TS_MAIN_CANDLES', 'TS_MAIN_LOG'], 'the operator sees the streams');
  t.equal((await streams.list().next()).length, 2);
});

test('requests are answered to inboxes alone', needsNatsServer(), async (t) => {
  // Without accounts, any client can impersonate any node.
  const { urls } = await natsServers(t, 1);
  const leader = await natsBus(t, urls);
  const thief = await connect({ servers: [...urls] });
  t.teardown(() => thief.close());
  leader.answer('full.1', async () => bytes);
  await eventually(() => leader.ask('full.1', bytes, 1_000).catch(() => undefined));
  for (const reply of ['ts.main.log.x', 'ts.main.tick', '$JS.API.STREAM.INFO.TS_MAIN_LOG', '_INBOXES.x'])
    thief.publish('ts.main.full.1', bytes, { reply });
  t.equal((await thief.request('ts.main.full.1', bytes)).data.length, bytes.length);
  t.equal(leader.refusedMessages, 4);
  t.equal((await leader.extent()).last.sequence, 0);
});

test(
  'a record of another stream, or under another ID, is no record of the log',
  needsNatsServer(),
  async (t) => {
    const { urls } = await natsServers(t, 1);
    const leader = await natsBus(t, urls);
    const follower = await natsBus(t, urls, { role: 'edge' });
    const thief = await connect({ servers: [...urls] });
    t.teardown(() => thief.close());
    await leader.candles.put(['b7', 'd', '1'], bytes);
    await leader.append(LOG_START, 'a-1', bytes);
    const committed: LogRecord[] = [];
    follower.onCommitted((record) => committed.push(record));
    await follower.extent();
    const reply = 'ts.main.live.x';
    thief.publish('$JS.API.DIRECT.GET.TS_MAIN_CANDLES', '{"seq":1}', { reply });
    thief.publish('$JS.API.DIRECT.GET.TS_MAIN_LOG', '{"seq":1}', { reply });
    thief.publish(reply, 'no record');
    await eventually(() => follower.refusedMessages >= 2 && committed.length > 0);
    t.same(
      committed.map(({ sequence, id }) => [sequence, id]),
      [[1, 'a-1']],
      'the record of the log again, under its own ID',
    );
    t.equal(follower.refusedMessages, 2);
  },
);

test(
  'a stolen edge takes no connections of other nodes, and few subscriptions',
  needsNatsServer(),
  async (t) => {
    const { urls, leader, thief } = await besieged(t);
    const [user, pass] = credentialsOf(4).split(':') as [string, string];
    const opened = [thief];
    while (opened.length < 100) {
      const options = { servers: [...urls], user, pass, reconnect: false };
      const more = await connect(options).catch(() => undefined);
      if (more === undefined) break;
      t.teardown(() => more.close());
      opened.push(more);
    }
    t.equal(opened.length, 16);
    t.match(await firstErrorOf(urls[0]!, user, pass), /maximum account active connections/i);
    const edge = await natsBus(t, urls, { role: 'edge', credentials: credentialsOf(3) });
    t.equal(await leader.append(LOG_START, 'a-1', bytes), 1);
    t.same((await edge.extent()).last, { sequence: 1, id: 'a-1' }, 'another edge connects');

    const problem = statusErrorOf(thief);
    for (let i = 0; i < 100; i++) thief.subscribe(`_INBOX.edge.${i}`);
    t.match((await problem)?.message, /maximum subscriptions/i);
  },
);

async function statusErrorOf(client: NatsConnection): Promise<Error | undefined> {
  for await (const status of client.status()) if (status.type === 'error') return status.error;
  return undefined;
}

/** Reads the error that the server sends before it closes a connection. A client that writes meanwhile may lose it. */
async function firstErrorOf(url: string, user: string, pass: string): Promise<string | undefined> {
  const { hostname, port } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  socket.write(`CONNECT ${JSON.stringify({ user, pass, verbose: false })}\r\n`);
  for await (const line of createInterface({ input: socket })) if (line.startsWith('-ERR')) return line;
  return undefined;
}
