import { once } from 'node:events';
import { test } from 'tap';
import { WebSocket } from 'ws';
import {
  type ConnectionOptions,
  type Down,
  ReconnectingSocket,
} from '../../../src/client/connect/reconnecting_socket.js';
import type { OpenConnection } from '../../../src/client/connect/socket_like.js';
import { startContractServer, TOKEN } from '../contract_server.js';
import { FakeSchedule } from '../fake_schedule.js';

const openSocket: OpenConnection = (url, headers) => new WebSocket(url, { headers: { ...headers } });

/** Opens a socket that is like a browser's socket, without pings of the protocol and without `terminate`. */
const openBrowserSocket: OpenConnection = (url, headers) =>
  new Proxy(new WebSocket(url, { headers: { ...headers } }), {
    get(socket, name) {
      if (name === 'ping' || name === 'on' || name === 'terminate') return undefined;
      const value: unknown = Reflect.get(socket, name);
      return typeof value === 'function' ? value.bind(socket) : value;
    },
    set: (socket, name, value) => Reflect.set(socket, name, value),
  });

const QUIET_MS = 1_000;
const ANSWER_MS = 3_000;

function connect(options: ConnectionOptions, onText: (text: string) => void = () => {}): ReconnectingSocket {
  return new ReconnectingSocket('/ws', QUIET_MS, options, { onOpen: () => {}, onText });
}

/** Returns a listener, and a function that resolves at the next call of `onDown`. */
function nextDown(): { onDown: (down: Down) => void; next: () => Promise<Down> } {
  let resolve: (down: Down) => void = () => {};
  return {
    onDown: (down) => resolve(down),
    next: () =>
      new Promise((done) => {
        resolve = done;
      }),
  };
}

test('a lost connection comes back, with growing and bounded delays', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const fake = new FakeSchedule();
  const { onDown, next } = nextDown();
  const socket = connect({ url: server.url, token: TOKEN, openSocket, schedule: fake.schedule, onDown });
  await socket.opened();
  t.ok(socket.isOpen);
  t.ok(socket.send('{"type":"unsubscribe","assets":[]}'));

  const delaysMs: number[] = [];
  for (let i = 0; i < 8; i += 1) {
    const down = next();
    for (const client of server.sockets) client.close(1013, 'too slow');
    t.match(await down, { reason: 'closed with 1013 ("too slow")', final: false });
    t.notOk(socket.isOpen);
    t.notOk(socket.send('lost'), 'nothing is kept for later');
    delaysMs.push(fake.runOnly());
    await socket.opened();
  }
  for (const [i, delayMs] of delaysMs.entries()) {
    const limitMs = Math.min(250 * 2 ** i, 10_000);
    t.ok(delayMs >= limitMs / 2 && delayMs <= limitMs, `${delayMs} of ${limitMs}`);
  }
  const closed = async (code: number) => {
    const down = next();
    for (const client of server.sockets) client.close(code);
    await down;
    const delayMs = fake.runOnly();
    await socket.opened();
    return delayMs;
  };
  // A connection that has been up for this time is good. The delays after its loss start from the minimum.
  fake.run(5_000);
  const afterGood = await closed(1013);
  t.ok(afterGood >= 125 && afterGood <= 250, `${afterGood}`);
  fake.run(5_000);
  t.ok((await closed(1001)) <= 20, 'another service may already serve');
  t.ok((await closed(1001)) >= 125, 'a connection that was not good');
  await socket.close();
  t.same(fake.pending, []);
  await t.rejects(socket.opened(), { message: 'closed' });
});

test('a revoked token is final; a service that is not there is not', async (t) => {
  const server = await startContractServer();
  const fake = new FakeSchedule();
  const { onDown, next } = nextDown();
  const socket = connect({ url: server.url, token: TOKEN, openSocket, schedule: fake.schedule, onDown });
  await socket.opened();
  const revoked = next();
  for (const client of server.sockets) client.close(4401, 'token revoked');
  t.match(await revoked, { final: true, reason: 'closed with 4401 ("token revoked")' });
  t.same(fake.pending, []);

  await server.close();
  const absent = next();
  const other = connect({ url: server.url, token: TOKEN, openSocket, schedule: fake.schedule, onDown });
  t.match(await absent, { final: false, reason: /ECONNREFUSED/ });
  t.equal(fake.pending.length, 1);
  await other.close();
  t.same(fake.pending, []);
});

test('silence is probed; without an answer it is stale, down, and up again, in this order', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  server.onSocket = (socket) => {
    socket.removeAllListeners('message');
    socket.on('message', (data) => server.received.push(String(data)));
  };
  const fake = new FakeSchedule();
  const { onDown, next } = nextDown();
  const events: string[] = [];
  let arrived: () => void = () => {};
  const options: ConnectionOptions = {
    url: server.url,
    token: TOKEN,
    openSocket: openBrowserSocket,
    schedule: fake.schedule,
    onStale: (silentMs) => events.push(`stale after ${silentMs}`),
    onUp: () => events.push('up'),
    onDown(down) {
      events.push(`down, final ${down.final}: ${down.reason}`);
      onDown(down);
    },
  };
  const socket = connect(options, () => arrived());
  await socket.opened();
  const [client] = server.sockets;
  const text = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  client!.send('something');
  await text;
  const probed = once(client!, 'message');
  fake.run(QUIET_MS);
  t.notOk(
    fake.pending.some(({ delayMs }) => delayMs === ANSWER_MS),
    'what arrived needs no probe',
  );
  fake.run(QUIET_MS);
  await probed;
  t.same(server.received, ['{"type":"ping"}']);
  const down = next();
  fake.run(ANSWER_MS);
  await down;
  t.notOk(socket.isOpen, 'it does not wait for the other side to close');
  fake.runOnly();
  await socket.opened();
  t.same(events, [
    'up',
    'stale after 4000',
    'down, final false: nothing arrived for 4000 ms, not even the answer to a ping',
    'up',
  ]);
  await socket.close();
  t.same(fake.pending, []);
});
