import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'tap';
import { WebSocket } from 'ws';
import {
  type ConnectionOptions,
  type Down,
  ReconnectingSocket,
} from '../../../src/client/connect/reconnecting_socket.js';
import type { OpenConnection } from '../../../src/client/connect/socket_like.js';
import { IdleTimeouts } from '../../../src/server/uws/idle_timeouts.js';
import { openBrowserSocket } from '../browser_socket.js';
import { startContractServer, TOKEN } from '../contract_server.js';
import { FakeSchedule } from '../fake_schedule.js';

const openSocket: OpenConnection = (url, headers) => new WebSocket(url, { headers: { ...headers } });

const QUIET_MS = 1_000;
const ANSWER_MS = 3_000;

function connect(options: ConnectionOptions, onText: (text: string) => void = () => {}): ReconnectingSocket {
  return new ReconnectingSocket('/ws', QUIET_MS, options, { onOpen: () => {}, onText });
}

/** Waits until the socket is made. Each attempt first requests credentials; if they are known, this takes a single turn. */
function socketMade(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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

test('a socket that is closed for idleness comes back, one closed for bad messages does not', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const fake = new FakeSchedule();
  const { onDown, next } = nextDown();
  const socket = connect({ url: server.url, token: TOKEN, openSocket, schedule: fake.schedule, onDown });
  await socket.opened();
  for (const reason of idleReasons()) {
    const idle = next();
    for (const client of server.sockets) client.close(1008, reason);
    t.match(await idle, { final: false });
    fake.runOnly();
    await socket.opened();
  }
  const unwanted = next();
  for (const client of server.sockets) client.close(1008, 'too many bad messages');
  t.match(await unwanted, { final: true });
  t.same(fake.pending, []);
});

/** Returns the reasons with which the service itself closes idle sockets. */
function idleReasons(): string[] {
  const reasons: string[] = [];
  let nowMs = 0;
  const timeouts = new IdleTimeouts(() => nowMs, 20);
  timeouts.add({
    path: { idleTimeoutSeconds: 60 },
    idlePlace: 0,
    seenAtS: 0,
    isPinged: false,
    ping: () => {},
    close: (_code, reason) => reasons.push(reason),
  });
  nowMs = 120_000;
  timeouts.check();
  return reasons;
}

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

test('where the socket has pings of its own, they are used, and their answers count', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const fake = new FakeSchedule();
  let stale = 0;
  let socketOfClient: WebSocket | undefined;
  const socket = connect({
    url: server.url,
    token: TOKEN,
    openSocket(url, headers) {
      socketOfClient = new WebSocket(url, { headers: { ...headers } });
      return socketOfClient;
    },
    schedule: fake.schedule,
    onStale: () => {
      stale += 1;
    },
  });
  await socket.opened();
  for (let i = 0; i < 3; i += 1) {
    const answered = once(socketOfClient!, 'pong');
    fake.run(QUIET_MS);
    await answered;
    fake.run(ANSWER_MS);
  }
  t.same(server.received, [], 'no message was needed');
  t.equal(stale, 0);
  await socket.close();
});

test('a connection that neither opens nor fails is given up, and so is one that does not close', async (t) => {
  const server = createServer(() => {});
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const fake = new FakeSchedule();
  const { onDown, next } = nextDown();
  const down = next();
  const url = `ws://127.0.0.1:${port}`;
  const socket = connect({ url, token: TOKEN, openSocket, schedule: fake.schedule, onDown });
  await socketMade();
  fake.run(10_000);
  t.match(await down, { reason: 'no connection within 10000 ms', final: false });
  fake.runOnly();
  await socketMade();
  const closed = socket.close();
  fake.run(5_000);
  await closed;
  t.same(fake.pending, []);
});
