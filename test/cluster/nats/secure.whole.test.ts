import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START } from '../../../src/cluster/bus.js';
import { openNatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { TestAuthority } from '../../certificate.js';
import { credentialsOf, SHIPPED_ACCOUNTS } from './accounts.js';
import { NatsOperator } from './jwt.js';
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

test('users of an operator log in with JWTs', needsNatsServer(), async (t) => {
  const operator = new NatsOperator();
  const { urls } = await natsServers(t, 1, operator.settings);
  const bus = await natsBus(t, urls, { credentials: operator.credentials() });
  t.equal(await bus.append(LOG_START, 'a-1', bytes), 1);
  const reads = operator.credentials({ pub: { allow: ['_INBOX.>', '$JS.API.STREAM.INFO.*'] } });
  const edge = await natsBus(t, urls, { role: 'edge', credentials: reads });
  await t.rejects(edge.append({ sequence: 1, id: 'a-1' }, 'e-2', bytes), /permission/i);
  for (const credentials of [operator.credentials({}, 1_700_000_001), new NatsOperator().credentials()])
    await t.rejects(
      openNatsBus(natsOptions(urls, { credentials, startMsMax: 200 })),
      /^no connection to nats:.*(Authorization Violation|expired)/i,
    );
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
