import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { NODE } from '../../../src/client/connect/node_platform.js';
import { type Down, ReconnectingSocket } from '../../../src/client/connect/reconnecting_socket.js';
import { FakeSchedule } from '../fake_schedule.js';

/** Answers each upgrade with the given function. @returns the base address */
async function refuseWith(t: Test, answer: (socket: Duplex) => void): Promise<string> {
  const server = createServer().on('upgrade', (_request, socket) => {
    socket.on('error', () => {});
    answer(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function connect(url: string, fake: FakeSchedule): { socket: ReconnectingSocket; downs: Down[] } {
  const downs: Down[] = [];
  const { openSocket } = NODE;
  const options = { url, openSocket, schedule: fake.schedule, onDown: (down: Down) => downs.push(down) };
  return {
    socket: new ReconnectingSocket('/ws', 1_000, options, { onOpen: () => {}, onText: () => {} }),
    downs,
  };
}

function head(status: number, length: number): string {
  return `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
}

test("a refused connection tells the service's own reason", async (t) => {
  for (const [status, body, reason, final] of [
    [400, '{"error":"unknown channel"}', 'the service says "unknown channel"', true],
    [401, '{"error":"unknown token"}', 'the service says "unknown token"', true],
    [403, '{"error":"read only"}', 'the service says "read only"', true],
    [429, '{"error":"too many connections"}', 'the service says "too many connections"', false],
    [503, '{"error":"not ready"}', 'the service says "not ready"', false],
    [502, '<html>', 'HTTP 502', false],
    [502, '', 'HTTP 502', false],
    [502, 'x'.repeat(1_000_000), 'HTTP 502', false],
  ] as const) {
    const url = await refuseWith(t, (socket) => socket.end(head(status, body.length) + body));
    const fake = new FakeSchedule();
    const { socket, downs } = connect(url, fake);
    const opened = socket.opened().catch(({ message }: Error) => message);
    await eventually(() => downs.length === 1);
    t.same(downs, [{ reason, httpStatus: status, final }]);
    t.equal(fake.pending.length, final ? 0 : 1, 'only a refusal that passes is followed by another attempt');
    await socket.close();
    t.equal(await opened, final ? reason : 'closed');
  }
});
