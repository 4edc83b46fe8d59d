import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { NODE } from '../../../src/client/connect/node_platform.js';
import { type Down, ReconnectingSocket } from '../../../src/client/connect/reconnecting_socket.js';
import { serve } from '../../local_server.js';
import { FakeSchedule } from '../fake_schedule.js';

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
    [401, '{"error":"unknown token"}', 'the service says "unknown token"', true],
    [429, '{"error":"too many connections"}', 'the service says "too many connections"', false],
    [502, '<html>', 'HTTP 502', false],
    [502, 'x'.repeat(1_000_000), 'HTTP 502', false],
  ] as const) {
    const url = await serve(
      t,
      () => {},
      (socket) => socket.end(head(status, body.length) + body),
    );
    const fake = new FakeSchedule();
    const { socket, downs } = connect(url.replace('http', 'ws'), fake);
    const opened = socket.opened().catch(({ message }: Error) => message);
    await eventually(() => downs.length === 1);
    t.same(downs, [{ reason, httpStatus: status, final }]);
    t.equal(fake.pending.length, final ? 0 : 1, 'only a refusal that passes is followed by another attempt');
    await socket.close();
    t.equal(await opened, final ? reason : 'closed');
  }
});
