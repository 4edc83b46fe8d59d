import { writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START, type LogRecord } from '../../../src/cluster/bus.js';
import { openNatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { TestAuthority } from '../../certificate.js';
import { askInVain, besieged, credentialsOf, SHIPPED_ACCOUNTS } from './accounts.js';
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
  const wanted = ['a-1', 'leader node.3.edge'];
  await eventually(() => wanted.every((one) => heard.includes(one)));
  t.equal(heard.filter((one) => one === 'leader node.3.edge').length, 1, 'once');
  await eventually(async () => (await edge.read(0)).length === 1);
  t.same((await edge.extent()).last, { sequence: 1, id: 'a-1' });
  for await (const { key } of edge.candles.read()) t.same(key, ['b7', 'd', '1']);
  await eventually(async () => {
    // Servers do not answer during a leader election.
    const report = await aggregator.serverReport(Date.now, false).catch(() => undefined);
    return report?.log?.currentCopies === 3;
  });
  t.same(notices, [], 'nobody was refused anything');

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
  await t.rejects(operator.request('ts.main.log.o-2', bytes), /permission/i);
});

test('wrong credentials are refused at once', needsNatsServer(), async (t) => {
  const [url] = (await natsServers(t, 1, SHIPPED_ACCOUNTS)).urls;
  for (const credentials of ['node-1:wrong', 'nobody:secret-1', undefined]) {
    const refused = openNatsBus(natsOptions([url!], credentials === undefined ? {} : { credentials }));
    await t.rejects(refused, /^no connection to nats:.*Authorization Violation/i);
  }
});

test('an import that an older nats.conf lacks is named', needsNatsServer(), async (t) => {
  const edgeOf = SHIPPED_ACCOUNTS.indexOf('  EDGE_3 {');
  const without = (subject: string) => {
    const line = new RegExp(`.*"${subject.replaceAll('$', '\\$')}" \\} \\}\n`);
    const imports = SHIPPED_ACCOUNTS.indexOf('imports', edgeOf);
    return SHIPPED_ACCOUNTS.slice(0, imports) + SHIPPED_ACCOUNTS.slice(imports).replace(line, '');
  };
  for (const subject of [
    '$JS.API.INFO',
    '$JS.API.STREAM.INFO.TS_MAIN_LOG',
    '$JS.API.DIRECT.GET.TS_MAIN_LOG',
    '$JS.API.STREAM.MSG.GET.TS_MAIN_LOG',
  ]) {
    const { urls } = await natsServers(t, 1, without(subject));
    const aggregator = await natsBus(t, urls, { credentials: credentialsOf(1) });
    await aggregator.append(LOG_START, 'a-1', bytes);
    const read = async () => {
      const options = natsOptions(urls, { role: 'edge', credentials: credentialsOf(3), startMsMax: 300 });
      const bus = await openNatsBus(options);
      t.teardown(() => bus.close());
      await bus.extent();
      await bus.read(0);
    };
    await t.rejects(read(), { message: new RegExp(subject.replaceAll('$', '\\$')) }, subject);
  }
});

test('TLS, both ways', needsNatsServer(), async (t) => {
  const dir = t.testdir();
  const authority = new TestAuthority(dir);
  if (authority.missing !== undefined) return t.comment(`skipped: ${authority.missing}`);
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const server = authority.issue('server', 2);
  const node = authority.issue('node', 2);
  const caFile = file('ca.pem', authority.root);
  const settings = `tls {
    cert_file: ${JSON.stringify(file('server-chain.pem', server.chain))}
    key_file: ${JSON.stringify(file('server-key.pem', server.key))}
    ca_file: ${JSON.stringify(caFile)}
    verify: true
  }`;
  const { urls } = await natsServers(t, 1, settings);
  const secure = urls.map((url) => url.replace('nats:', 'tls:'));
  const own = { certFile: file('node-chain.pem', node.chain), keyFile: file('node-key.pem', node.key) };
  const bus = await natsBus(t, secure, { tls: { caFile, ...own } });
  t.equal(await bus.append(LOG_START, 'a-1', bytes), 1);
  const says = (
    options: Partial<Parameters<typeof natsOptions>[1]>,
    reason: RegExp,
    to: readonly string[] = secure,
  ) => t.rejects(openNatsBus(natsOptions(to, { startMsMax: 200, ...options })), reason);
  await says({ tls: own }, /no connection to .*certificate/i);
  await says({ tls: { caFile } }, /no connection/i);
  const elsewhere = secure.map((url) => url.replace('127.0.0.1', 'localhost'));
  await says({ tls: { caFile, ...own } }, /no connection to .*localhost/i, elsewhere);
  const plain = (await natsServers(t, 1)).urls;
  await says({ tls: { caFile } }, /tls/i, plain);
  await says(
    {},
    /tls/i,
    plain.map((url) => url.replace('nats:', 'tls:')),
  );
});

// Attacks on the other nodes of a cluster. The attacker has only the credentials of an edge or of the operator.

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
