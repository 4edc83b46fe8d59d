import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { FakeClock } from '../clock/fake_clock.js';
import { startTestService, TestSocket } from './harness.js';

/** Opens a connection from an address of this machine, and writes a request if there is one. */
function open(port: number, localAddress: string, request = ''): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  if (request !== '') socket.write(request);
  return socket;
}

const GET = 'GET /v1/taxonomy HTTP/1.1\r\nHost: localhost\r\n\r\n';

async function isAnswered(socket: Socket): Promise<boolean> {
  const answered = once(socket, 'data').then(() => true);
  return Promise.race([answered, once(socket, 'close').then(() => false)]);
}

test('an address with too many connections is refused, and other addresses are served', async (t) => {
  if (process.platform !== 'linux') {
    t.pass('skipped: other systems have one address for themselves');
    return;
  }
  const service = await startTestService({ limits: { connections_per_address: 2 } });
  t.teardown(() => service.stop());
  const { port, socketUrl, adminUrl } = service;
  const crowd = Array.from({ length: 34 }, () => open(port, '127.0.0.2'));
  await eventually(() => crowd.filter((socket) => socket.closed).length === 14, { what: '14 are ended' });
  t.equal(await isAnswered(open(port, '127.0.0.2', GET)), false);
  for (let i = 0; i < 6; i++) {
    const other = open(port, '127.0.0.3', GET);
    t.equal(await isAnswered(other), true);
    other.destroy();
  }
  const sockets = await Promise.all([1, 2].map(() => TestSocket.open(`${socketUrl}/ws`)));
  t.equal(sockets.length, 2);
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  t.match(metrics, 'tickseal_connections_refused_total 15\n');
  for (const socket of crowd) socket.destroy();
});

test('the WebSockets of an address are counted while they are open', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService({ limits: { connections_per_address: 10 } }, { clock });
  t.teardown(() => service.stop());
  const open = () => TestSocket.open(`${service.socketUrl}/ws`);
  const sockets = await Promise.all(Array.from({ length: 10 }, open));
  clock.advance(12_000_000_000n);
  await t.rejects(open(), /^429 .*connections_per_address \(10\)/);
  await t.rejects(open(), /^429 /, 'a refused one is not counted');
  await sockets.pop()!.close();
  await eventually(
    async () =>
      open().then(
        (socket) => sockets.push(socket) > 0,
        () => false,
      ),
    {
      what: 'a place is free',
    },
  );
  await Promise.all(sockets.map((socket) => socket.close()));
});
