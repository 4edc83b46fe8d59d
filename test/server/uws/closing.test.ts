import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import type { ListenOptions } from '../../../src/server/uws/app.js';
import { openListener } from '../../../src/server/uws/listener.js';
import { loadWebSockets } from '../../../src/server/uws/native.js';
import { openSockets } from '../../../src/server/uws/open_sockets.js';
import { ReplaceableListener } from '../../../src/server/uws/replaceable_listener.js';
import { FanOut } from '../../../src/stream/fan_out.js';
import { makeCertificate } from '../../certificate.js';

// Tests that closing leaves no open socket of uWebSockets.js, because Node aborts the process when a thread ends with an open socket.

const CLIENTS = 100;

const ws = loadWebSockets(undefined);

function open(at: Partial<ListenOptions> = {}): ReplaceableListener {
  return new ReplaceableListener(() =>
    openListener(
      ws,
      { host: '127.0.0.1', port: 0, ...at },
      {
        fanOut: new FanOut(),
        endpoints: [],
        pingIntervalSeconds: 20,
        decideEvents: () => ({ response: { status: 404, headers: [], body: '' }, open: undefined }),
        decideUpgrade: () => ({ status: 404, headers: [], body: '' }),
        rest: () => ({ status: 404, headers: [], body: '' }),
        refused: { checked: (_request, response) => response },
        connections: { isShort: false, accept: () => true, ended: () => {} },
      },
    ),
  );
}

test('a listener is closed at once, and does not open again', async (t) => {
  const listener = open();
  t.equal(openSockets(), 1);
  const closed = listener.close();
  t.equal(openSockets(), 0);
  await closed;
  listener.setAccepting(true);
  t.equal(openSockets(), 0);
});

test('a listener that is being replaced is closed with the one that replaces it', async (t) => {
  const listener = open();
  const replaced = listener.replace();
  t.equal(openSockets(), 2);
  const closed = listener.close();
  t.equal(openSockets(), 0);
  await Promise.all([replaced, closed]);
  t.equal(openSockets(), 0);
});

test('a replaced listener answers on the connections that it has, and ends them with the answer', async (t) => {
  const listener = open();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const { port } = listener;
  const get = () =>
    new Promise<{ from?: number | undefined; status?: number | undefined; connection?: string | undefined }>(
      (resolve, reject) => {
        request({ host: '127.0.0.1', port, agent }, (response) => {
          const from = response.socket.localPort;
          const { statusCode: status, headers } = response;
          response.resume().once('end', () => resolve({ from, status, connection: headers.connection }));
        })
          .once('error', reject)
          .end();
      },
    );
  const { from } = await get();
  await listener.replace();
  // This pause is longer than the time until the first check.
  await pause(800);
  t.equal(openSockets(), 2, 'the listener that replaced it, and the connection');
  t.same(await get(), { from, status: 404, connection: 'close' }, 'over the same connection');
  await eventually(() => openSockets() === 1, { what: 'the connection has ended' });
  await listener.close();
});

test('TLS handshakes that wait for their turn are closed too', async (t) => {
  const dir = t.testdir();
  const problem = makeCertificate(dir, 'one');
  if (problem !== undefined) {
    t.pass(`skipped: ${problem}`);
    return;
  }
  const tls = { certFile: join(dir, 'one.pem'), keyFile: join(dir, 'one.key') };
  const listener = open({ tls });
  let ended = 0;
  for (let i = 0; i < CLIENTS; i++) {
    const client = connect({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false });
    client.on('error', () => {}).once('close', () => ended++);
  }
  // All connections are accepted in one turn, and send their first messages in the next turn.
  while (openSockets() < CLIENTS) await new Promise(setImmediate);
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  const closed = listener.close();
  const waiting = openSockets();
  t.ok(waiting > 0, `${waiting} wait`);
  await closed;
  t.equal(openSockets(), 0);
  await eventually(() => ended === CLIENTS);
});
