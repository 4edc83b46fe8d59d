import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import type { ListenOptions } from '../../../src/server/uws/app.js';
import { openSockets } from '../../../src/server/uws/open_sockets.js';
import { ReplaceableListener } from '../../../src/server/uws/replaceable_listener.js';
import { makeCertificate } from '../../certificate.js';
import { listenWith } from './opened_listener.js';

// Tests that closing leaves no open socket of uWebSockets.js, because Node aborts the process when a thread ends with an open socket.

const CLIENTS = 100;

const open = (at?: Partial<ListenOptions>) => new ReplaceableListener(() => listenWith(undefined, at));

test('a replaced listener answers on the connections that it has, and ends them with the answer', async (t) => {
  const listener = open();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const { port } = listener;
  const get = async () => {
    const sent = request({ host: '127.0.0.1', port, agent }).end();
    const [response]: IncomingMessage[] = await once(sent, 'response');
    const from = response!.socket.localPort;
    await once(response!.resume(), 'end');
    return { from, status: response!.statusCode, connection: response!.headers.connection };
  };
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
  listener.setAccepting(true);
  t.equal(openSockets(), 0, 'a closed listener does not open again');
  await eventually(() => ended === CLIENTS);
});
