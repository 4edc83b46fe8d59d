import { test } from 'tap';
import type { FakeClock } from '../clock/fake_clock.js';
import { THREAD_COUNTS } from '../tier.js';
import { get, namedToken, type Sections, startTestService, type TestService, TestSocket } from './harness.js';
import { RawHttp } from './raw_http.js';

// Tests of a web page that opens a stream with a ticket. The page requests the ticket with its token.

const PAGE = 'https://app.example';

function startWithPage(threads = 1, sections: Sections = {}, clock?: FakeClock): Promise<TestService> {
  const listen = { port: 0, threads, allowed_origins: [PAGE] };
  const tokens = [namedToken('alice'), namedToken('bob')];
  return startTestService({ listen, tokens, ...sections }, clock && { clock });
}

async function ticketOf(service: TestService, name: string): Promise<string> {
  const response = await get(`${service.url}/v1/stream_ticket`, { Authorization: `Basic ${name}` });
  const { data } = (await response.json()) as { data: { ticket: string } };
  return data.ticket;
}

/** Opens a stream like a browser does for a page. */
function openBy(ticket: string, service: TestService, path = '/ws', origin = PAGE): Promise<TestSocket> {
  const protocols = ['tickseal.v1', `ticket.${ticket}`];
  return TestSocket.open(`${service.socketUrl}${path}`, null, { Origin: origin }, protocols);
}

for (const threads of THREAD_COUNTS) {
  test(`a ticket opens a stream, once, ${threads} threads`, async (t) => {
    const service = await startWithPage(threads);
    t.teardown(() => service.stop());
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

test('only tickseal.v1 is selected, and a ticket is never sent back', async (t) => {
  const service = await startWithPage();
  t.teardown(() => service.stop());
  const upgrade = async (headers: readonly string[], path = '/ws') => {
    const raw = await RawHttp.open(service.port);
    raw.request(`GET ${path}`, [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    ]);
    const { status, headers: answered, body } = await raw.response();
    raw.end();
    return { status, protocol: answered.get('sec-websocket-protocol'), text: [...answered, body].join() };
  };
  const authorization = 'Authorization: Basic alice';
  const offer = (list: string) => `Sec-WebSocket-Protocol: ${list}`;
  t.match(await upgrade([authorization]), { status: 101, protocol: undefined });
  t.match(await upgrade([authorization, offer('graphql-ws, tickseal.v1')]), { protocol: 'tickseal.v1' });
  t.match(await upgrade([authorization, offer('graphql-ws')]), { status: 101, protocol: undefined });
  const orders = [
    (ticket: string) => [offer(`ticket.${ticket}, tickseal.v1`)],
    (ticket: string) => [offer('tickseal.v1'), offer(`ticket.${ticket}`)],
    (ticket: string) => [offer(`tickseal.v1,\tticket.${ticket} `)],
  ];
  for (const order of orders) {
    const ticket = await ticketOf(service, 'alice');
    const answer = await upgrade(order(ticket));
    t.match(answer, { status: 101, protocol: 'tickseal.v1' });
    t.notMatch(answer.text, ticket);
    t.notMatch((await upgrade(order(ticket))).text, ticket, 'nor in an error');
  }
  const ticket = await ticketOf(service, 'alice');
  t.match(await upgrade([offer(`ticket.${ticket}`)]), { status: 400, text: /tickseal\.v1/ });
  t.match(
    await upgrade([offer('tickseal.v1')], `/ws?ticket=${ticket}`),
    { status: 401 },
    'no ticket in a URL',
  );
});
