import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START } from '../../../src/cluster/bus.js';
import { openNatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { TestAuthority } from '../../certificate.js';
import { ROOT } from '../../pages.js';
import { natsBus, natsOptions, natsServers, needsNatsServer } from './servers.js';

const bytes = new Uint8Array(10);
const [SHIPPED_USERS] = /^accounts \{[\s\S]*?^\}/m.exec(
  readFileSync(join(ROOT, 'scripts/deploy/nats.conf'), 'utf8'),
)!;

test('the shipped users can do their work and no more', needsNatsServer(), async (t) => {
  const users = SHIPPED_USERS.replace('AGGREGATOR_PASSWORD_HASH', 'a-secret').replace(
    'EDGE_PASSWORD_HASH',
    'e-secret',
  );
  const { urls } = await natsServers(t, 3, users);
  const notices: string[] = [];
  const onNotice = (text: string) => notices.push(text);
  const aggregator = await natsBus(t, urls, { credentials: 'aggregator:a-secret\n', onNotice });
  const edge = await natsBus(t, urls, { role: 'edge', credentials: 'edge:e-secret', onNotice });
  const heard: string[] = [];
  edge.onCommitted(({ id }) => heard.push(id));
  for (const topic of ['tick', 'node']) edge.listen(topic, () => heard.push(topic));
  aggregator.listen('node', () => heard.push('node of an edge'));
  for (const topic of ['full.1', 'in.1']) aggregator.answer(topic, async () => bytes);
  t.equal(await aggregator.append(LOG_START, 'a-1', bytes), 1);
  await aggregator.candles.put(['b7', 'd', '1'], bytes);
  await eventually(() => edge.ask('full.1', bytes, 1_000).catch(() => undefined));
  t.equal((await edge.ask('in.1', bytes, 60_000)).length, bytes.length);
  aggregator.send('tick', bytes);
  edge.send('node', bytes);
  await eventually(() => ['a-1', 'tick', 'node', 'node of an edge'].every((one) => heard.includes(one)));
  await eventually(async () => (await edge.read(0)).length === 1);
  t.same((await edge.extent()).last, { sequence: 1, id: 'a-1' });
  for await (const { key } of edge.candles.read()) t.same(key, ['b7', 'd', '1']);
  await eventually(async () => {
    // No server answers while the servers elect another leader.
    const report = await aggregator.keepLogLeaderApart(Date.now).catch(() => undefined);
    return report !== undefined && report.logLeader !== aggregator.server;
  });
  t.same(notices, [], 'nobody was refused anything');

  heard.length = 0;
  await t.rejects(edge.append({ sequence: 1, id: 'a-1' }, 'e-2', bytes), /permission/i);
  await t.rejects(edge.candles.put(['b7', 'd', '1'], bytes), /permission/i);
  edge.send('tick', bytes);
  edge.send('live.e-2', bytes);
  await eventually(() =>
    ['tick', 'live.e-2'].every((topic) => notices.some((text) => text.includes(`"ts.main.${topic}"`))),
  );
  t.same(heard, []);
  const { last } = await eventually(() => aggregator.extent().catch(() => undefined));
  t.equal(last.sequence, 1);
  edge.answer('full.1', async () => bytes);
  await eventually(() => notices.some((text) => text.includes('refuses a subscription to ts.main.full.1')));
});

test('wrong credentials are refused at once', needsNatsServer(), async (t) => {
  const users = SHIPPED_USERS.replace('AGGREGATOR_PASSWORD_HASH', 'a-secret');
  const [url] = (await natsServers(t, 1, users)).urls;
  for (const credentials of ['aggregator:wrong', 'nobody:a-secret', undefined]) {
    const refused = openNatsBus(natsOptions([url!], credentials === undefined ? {} : { credentials }));
    await t.rejects(refused, /^no connection to nats:.*Authorization Violation/i);
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
