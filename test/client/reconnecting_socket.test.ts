import { once } from 'node:events';
import { test } from 'tap';
import { WebSocket } from 'ws';
import {
  type ConnectionOptions,
  type Down,
  type OpenConnection,
  ReconnectingSocket,
} from '../../src/client/reconnecting_socket.js';
import { startContractServer, TOKEN } from './contract_server.js';
import { FakeSchedule } from './fake_schedule.js';

const openSocket: OpenConnection = (url, headers) => new WebSocket(url, { headers: { ...headers } });

function connect(options: ConnectionOptions, onText: (text: string) => void = () => {}): ReconnectingSocket {
  return new ReconnectingSocket('/ws', options, () => {}, onText);
}

/** Resolves with the next report that the connection is down. */
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
    t.match(await down, { reason: 'closed with 1013 (too slow)', final: false });
    t.notOk(socket.isOpen);
    t.notOk(socket.send('lost'), 'nothing is kept for later');
    delaysMs.push(fake.runOnly());
    await socket.opened();
  }
  for (const [i, delayMs] of delaysMs.entries()) {
    const limitMs = Math.min(250 * 2 ** i, 10_000);
    t.ok(delayMs >= limitMs / 2 && delayMs <= limitMs, `${delayMs} of ${limitMs}`);
  }
  // The timer that waits on an open connection calls it stable: the next loss starts from the minimum.
  t.equal(fake.runOnly(), 5_000);
  const down = next();
  for (const client of server.sockets) client.close(1001);
  await down;
  t.ok(fake.runOnly() <= 250);
  await socket.opened();
  await socket.close();
  t.same(fake.pending, []);
  await t.rejects(socket.opened(), { message: 'closed' });
});

test('a refusal is final and says why', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const fake = new FakeSchedule();
  const { onDown, next } = nextDown();
  const down = next();
  const socket = connect({ url: server.url, token: 'wrong', openSocket, schedule: fake.schedule, onDown });
  const opened = socket.opened();
  t.match(await down, { httpStatus: 401, final: true });
  await t.rejects(opened, { message: /401/ });
  t.same(fake.pending, [], 'there is no further attempt');
});

test('a revoked token is final; a service that is not there is not', async (t) => {
  const server = await startContractServer();
  const fake = new FakeSchedule();
  const { onDown, next } = nextDown();
  const socket = connect({ url: server.url, token: TOKEN, openSocket, schedule: fake.schedule, onDown });
  await socket.opened();
  const revoked = next();
  for (const client of server.sockets) client.close(4401, 'token revoked');
  t.match(await revoked, { final: true, reason: 'closed with 4401 (token revoked)' });
  t.same(fake.pending, []);

  await server.close();
  const absent = next();
  const other = connect({ url: server.url, token: TOKEN, openSocket, schedule: fake.schedule, onDown });
  t.match(await absent, { final: false, reason: /ECONNREFUSED/ });
  t.equal(fake.pending.length, 1);
  await other.close();
  t.same(fake.pending, []);
});

test('closing while connecting gives up at once', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const socket = connect({ url: server.url, token: TOKEN, openSocket });
  const opened = t.rejects(socket.opened(), { message: 'closed' });
  await socket.close();
  await opened;
});

test('without openSocket the global WebSocket is used, which sends no token', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const scope = globalThis as { WebSocket?: unknown };
  const original = scope.WebSocket;
  t.teardown(() => {
    scope.WebSocket = original;
  });
  scope.WebSocket = undefined;
  t.throws(() => connect({ url: server.url }), TypeError);
  // Stands for the proxy of the browser's own site, which adds the header.
  scope.WebSocket = class extends WebSocket {
    constructor(url: string) {
      super(url, { headers: { Authorization: `Basic ${TOKEN}` } });
    }
  };
  t.throws(() => connect({ url: server.url, token: TOKEN }), TypeError);
  const texts: string[] = [];
  const socket = connect({ url: `${server.url}/` }, (text) => texts.push(text));
  await socket.opened();
  t.same(server.paths, ['/ws']);
  t.equal(socket.bufferedBytes, 0);
  const [client] = server.sockets;
  client!.send(Buffer.from('binary'));
  client!.send('text');
  client!.close();
  await once(client!, 'close');
  t.same(texts, ['text'], 'binary frames are not for this client');
  await socket.close();
});
