import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { publishMessage } from '../../src/client/index.js';
import { RawSocket } from '../fire/raw_socket.js';
import { THREAD_COUNTS } from '../tier.js';
import { ServeProcess, writeConfig } from './child.js';
import { Feed, units } from './feed.js';
import { ask, sha256, startTestService, TestSocket, TOKEN } from './harness.js';
import { latestWhen } from './publishing.js';
import { RawHttp } from './raw_http.js';

// Tests of the service as a process: its start, its signals and its end.

/** The number of sockets that are closed in three batches, and the two pauses between these batches. */
const SOCKETS = 101;
const BATCHES_MS = 100;

test('many sockets are closed one batch after another, so that their clients do not all return at once', async (t) => {
  const service = await startTestService(t, {
    limits: { drain: '1s', connections_per_token: SOCKETS, control_messages_per_second: SOCKETS },
  });
  const sockets = await Promise.all(
    Array.from({ length: SOCKETS }, () => TestSocket.open(`${service.socketUrl}/ws`)),
  );
  const startMs = performance.now();
  const stopped = service.stop();
  await Promise.race(sockets.map((socket) => socket.closed));
  t.ok(
    sockets.some(({ ws }) => ws.readyState === ws.OPEN),
    'others are open when the first is closed',
  );
  const codes = await Promise.all(sockets.map(async (socket) => (await socket.closed).code));
  t.same(new Set(codes), new Set([1001]));
  t.ok(
    performance.now() - startMs >= BATCHES_MS - 1,
    'the last batch is closed after the pauses between the batches',
  );
  await stopped;
});

test('a port is free for the next service, whoever was connected, and for no other beside it', async (t) => {
  for (const threads of THREAD_COUNTS) {
    const first = await startTestService(t, { listen: { port: 0, threads } });
    const { port } = first;
    const socket = await TestSocket.open(`${first.socketUrl}/ws`);
    await t.rejects(startTestService(t, { listen: { port, threads } }), /in use/);
    // The service closes the connection first, so the kernel keeps the service's end of the connection for a minute.
    await first.stop();
    await socket.closed;
    const second = await startTestService(t, { listen: { port, threads } });
    t.equal(second.port, port);
    await second.stop();
  }
});

test('SIGTERM drains: 1001 to every socket, what was accepted is kept, exit status 0', async (t) => {
  const file = writeConfig(t.testdir(), { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '600s' }] });
  const first = new ServeProcess(['--config', file]);
  t.teardown(() => first.kill());
  const { socketUrl, adminUrl } = await first.ready();
  t.equal((await fetch(`${adminUrl}/readyz`, { method: 'POST' })).status, 405);
  const stream = await TestSocket.open(`${socketUrl}/ws?channel=10ms`);
  stream.send({ type: 'subscribe', assets: [1] });
  const feed = await Feed.open({ socketUrl });
  const price = units(77);
  await feed.accept({ symbol: 'BTCUSD', price });
  await stream.next();
  first.child.kill('SIGTERM');
  t.match(await stream.closed, { code: 1001 });
  t.match(await feed.socket.closed, { code: 1001 });
  t.same(await first.exited, { code: 0, signal: null });
  t.equal(first.stderr, '');

  const second = new ServeProcess(['--config', file]);
  t.teardown(() => second.kill());
  const again = await second.ready();
  const served = await latestWhen(again, 'BTCUSD');
  t.equal(served.price, String(price), 'accepted before the signal, served after the start');
  second.child.kill('SIGINT');
  t.same(await second.exited, { code: 0, signal: null });
});

test('SIGHUP reads the file again; one that is not valid changes nothing and is logged', async (t) => {
  const dir = t.testdir();
  const file = writeConfig(dir);
  const running = new ServeProcess(['--config', file]);
  t.teardown(() => running.kill());
  const { url, socketUrl, adminUrl } = await running.ready();
  const valid = readFileSync(file, 'utf8');
  const inForce = async () => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    const sha256 = /^tickseal_config_info\{sha256="(\w+)"\} 1$/m.exec(metrics)?.[1];
    return [sha256, /^tickseal_config_last_reload_successful (\d)$/m.exec(metrics)?.[1]];
  };
  const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
  t.same(await inForce(), [hashOf(valid), '1']);
  const stream = await TestSocket.open(`${socketUrl}/ws`);
  stream.send({ type: 'subscribe', assets: [1] });
  const feed = await Feed.open({ socketUrl });
  const symbols = async () => (await ask({ url }, '/v1/prices/assets')).data;

  const invalid: readonly (readonly [text: string, error: RegExp])[] = [
    [valid.replace('"id":1,', '"id":70000,'), /config.json:1:\d+ assets\[0\]\.id/],
    [valid.replace('evm.hex', 'nowhere.hex'), /keys\.evm.*nowhere\.hex/],
  ];
  for (const [text, error] of invalid) {
    writeFileSync(file, text);
    running.child.kill('SIGHUP');
    const line = await running.line(error);
    t.match(JSON.parse(line), { level: 50, msg: /nothing was changed/ });
  }
  t.same(await symbols(), ['BTCUSD', 'DYDXUSD']);
  t.same(
    await inForce(),
    [hashOf(valid), '0'],
    'the file that is in force, and that the last one was refused',
  );
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  t.match(await stream.nextJson(), { a: [{ id: 1 }] }, 'the sockets are the same');

  const assets = [
    { id: 9, symbol: 'BTCUSD' },
    { id: 8, symbol: 'ETHUSD' },
  ];
  writeConfig(dir, { assets });
  running.child.kill('SIGHUP');
  await running.line(/was read again/);
  t.same(await symbols(), ['BTCUSD', 'ETHUSD']);
  t.same(await inForce(), [hashOf(readFileSync(file, 'utf8')), '1']);
  await feed.accept({ symbol: 'ETHUSD', price: units(3) }, { symbol: 'BTCUSD', price: units(2) });
  t.same(await stream.nextJson(), { type: 'taxonomy' }, 'its asset has another ID');
  t.match(await stream.nextJson(), { a: [{ id: 9, v: String(units(2)) }] });

  const other = { name: 'other', sha256: sha256('other'), scopes: ['rest'] };
  writeConfig(dir, { assets, tokens: [other], limits: { connections_per_token: 1 } });
  running.child.kill('SIGHUP');
  t.match(await Promise.all([stream.closed, feed.socket.closed]), [{ code: 4401 }, { code: 4401 }]);
  t.match(JSON.parse(await running.line(/next start/)), { level: 40, sections: ['limits'] });
  running.child.kill('SIGTERM');
  t.same(await running.exited, { code: 0, signal: null });
  t.notMatch(running.stdout, TOKEN, 'no token stands in the log');
  for (const line of running.stdout.split('\n'))
    t.match(JSON.parse(line), { level: Number, time: Number, msg: /./ }, 'each line is JSON');
});

test('what stands in the way of a start ends with status 1 and is named', async (t) => {
  const service = await startTestService(t);
  const taken = new ServeProcess(['--config', writeConfig(t.testdir(), { listen: { port: service.port } })]);
  const locked = new ServeProcess(['--config', writeConfig(service.dir)]);
  t.teardown(() => Promise.all([taken.kill(), locked.kill()]));
  t.match(await taken.exited, { code: 1 });
  t.match(taken.stderr, new RegExp(`cannot listen on 127\\.0\\.0\\.1:${service.port}`));
  t.match(await locked.exited, { code: 1 });
  t.match(locked.stderr, /store cannot be opened: it is in use by another process/);
  const path = process.platform === 'linux' ? '/proc/tickseal/data' : '/dev/null/data';
  const refused = new ServeProcess(['--config', writeConfig(t.testdir(), { storage: { dir: path } })]);
  t.teardown(() => refused.kill());
  t.match(await refused.exited, { code: 2 });
  t.match(
    refused.stderr,
    /^\S+config\.json:1:\d+ storage\.dir: the data folder \S+ cannot be used: [^\n]+\n$/,
  );
  t.equal((await ask(service, '/v1/taxonomy')).status, 200, 'the one that runs is not disturbed');
});

/** The number of signatures is large enough that the workers receive a batch. */
const ASSETS = Array.from({ length: 200 }, (_, i) => ({ id: i + 1, symbol: `A${i + 1}` }));
const UPDATES_AT_FIRST = 20;

test('neither batches at the workers nor clients that stall hold up the end', async (t) => {
  const running = new ServeProcess(['--config', writeConfig(t.testdir(), { assets: ASSETS })]);
  t.teardown(() => running.kill());
  const { url, socketUrl } = await running.ready();
  const port = Number(new URL(url).port);
  const unread = await RawSocket.open(port, '/ws?channel=10ms');
  unread.socket.pause();
  const [unfinished, silent] = [await RawHttp.open(port), await RawHttp.open(port)];
  unfinished.write('GET /v1/taxonomy HTTP/1.1\r\nHost: x\r\n');
  t.teardown(() => [unread.socket, unfinished.socket, silent.socket].map((socket) => socket.destroy()));

  const stream = await TestSocket.open(`${socketUrl}/ws?message_type=signed_ecdsa`);
  stream.send({ type: 'subscribe', assets: ASSETS.map(({ id }) => id) });
  const feeds = await Promise.all([1, 2, 3].map(() => Feed.open({ socketUrl }, { ack: 'durable' })));
  feeds.forEach((feed, i) => {
    const updates = ASSETS.map(({ symbol }) => feed.sign({ symbol, price: units(1), publisher: i + 1 }));
    feed.socket.send(publishMessage('', updates.slice(0, UPDATES_AT_FIRST)));
    feed.socket.send(publishMessage('', updates.slice(UPDATES_AT_FIRST)));
  });
  t.match(await feeds[0]!.socket.nextJson(), { type: 'ack' });
  running.child.kill('SIGTERM');
  t.match(await stream.closed, { code: 1001 });
  t.same(await running.exited, { code: 0, signal: null });
  t.equal(running.stderr, '');
});
