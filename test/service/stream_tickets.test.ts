import { test } from 'tap';
import { THREAD_COUNTS } from '../tier.js';
import { get, namedToken, startTestService, type TestService, TestSocket } from './harness.js';

// Tests of a web page that opens a stream with a ticket. The page requests the ticket with its token.

const PAGE = 'https://app.example';

async function ticketOf(service: TestService, name: string): Promise<string> {
  const response = await get(`${service.url}/v1/stream_ticket`, { Authorization: `Basic ${name}` });
  const { data } = (await response.json()) as { data: { ticket: string } };
  return data.ticket;
}

/** Opens a stream like a browser does for a page. */
function openBy(ticket: string, service: TestService, path: string): Promise<TestSocket> {
  // The service must not select the ticket, which comes first here.
  const protocols = [`ticket.${ticket}`, 'tickseal.v1'];
  return TestSocket.open(`${service.socketUrl}${path}`, null, { Origin: PAGE }, protocols);
}

for (const threads of THREAD_COUNTS) {
  test(`a ticket opens a stream, once, ${threads} threads`, async (t) => {
    const listen = { port: 0, threads, allowed_origins: [PAGE] };
    const service = await startTestService(t, { listen, tokens: [namedToken('alice')] });
    for (const path of ['/ws', '/ws?channel=1s', '/evm/subscribe', '/stark/subscribe']) {
      const ticket = await ticketOf(service, 'alice');
      const socket = await openBy(ticket, service, path);
      t.equal(socket.ws.protocol, 'tickseal.v1', path);
      socket.send({ type: 'unknown' });
      t.match(await socket.nextJson(), { type: 'error' }, 'it is answered');
      await t.rejects(openBy(ticket, service, path), /^401 .*was used/);
      await socket.close();
    }
  });
}
