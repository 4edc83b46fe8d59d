import { connect } from 'node:net';
import { test } from 'tap';
import { FakeClock } from '../clock/fake_clock.js';
import { get, startTestService, TOKEN } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';

const LIMIT = 20;
const HEAD = 'Host: test\r\nX-Forwarded-For: ';
const REQUESTS: Readonly<Record<string, (client: string) => string>> = {
  'an unknown path': (client) => `GET /x HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
  'no token': (client) => `GET /v1/taxonomy HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
  'a refused upgrade': (client) => `GET /ws HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
  'a wrong method': (client) => `PUT /v1/taxonomy HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
  'a method in small letters': (client) => `get /v1/taxonomy HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
};

/** Sends a request and returns its status, and whether the connection then ends. */
function ask(port: number, request: string): Promise<{ status: number; ends: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    socket.setEncoding('latin1').once('data', (text) => {
      resolve({
        status: Number(/HTTP\/1.1 (\d+)/.exec(`${text}`)![1]),
        ends: /connection: close/i.test(`${text}`),
      });
      socket.destroy();
    });
    socket.on('error', () => {});
  });
}

for (const threads of THREAD_COUNTS)
  test(`${threads} thread(s): an address has so many refused requests, one more ends its connection`, async (t) => {
    const clock = new FakeClock();
    const service = await startTestService(
      t,
      {
        listen: { threads, trusted_proxies: ['127.0.0.1'] },
        limits: { refused_requests_per_minute: LIMIT, failed_logins_per_minute: 1_000 },
      },
      { clock },
    );
    let client = 0;
    for (const [name, request] of Object.entries(REQUESTS)) {
      const from = (host: number) => request(`2001:db8:0:${client}::${host}`);
      client++;
      for (let i = 1; i < LIMIT; i++) t.not((await ask(service.port, from(i))).status, 429, name);
      // In a thread, a stopped clock runs on for a moment, so two threads may disagree about the last request of the burst.
      const next = [];
      for (let i = 0; i < 1 + threads; i++) next.push(await ask(service.port, from(99)));
      const refused = next.filter(({ status, ends }) => status === 429 && ends);
      t.ok(refused.length >= threads, `${name}, from the same /64`);
    }
    const other = REQUESTS['an unknown path']!('192.0.2.1');
    t.same(await ask(service.port, other), { status: 404, ends: false }, 'another address');
    const headers = { 'X-Forwarded-For': '2001:db8::1' };
    t.equal(
      (await get(`${service.url}/v1/taxonomy`, headers)).status,
      200,
      'a token is let in from the address',
    );
    clock.advanceMs(60_000);
    t.equal(
      (await ask(service.port, REQUESTS['an unknown path']!('2001:db8::1'))).status,
      404,
      'a minute later',
    );
  });

test('requests past the rate of a token count as well, and those within it never', async (t) => {
  const service = await startTestService(
    t,
    {
      limits: { refused_requests_per_minute: 3 },
    },
    { clock: new FakeClock() },
  );
  const unknown = `GET /v1/prices/latest?assets=NO HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${TOKEN}\r\n\r\n`;
  for (let i = 0; i < 6; i++) t.same(await ask(service.port, unknown), { status: 400, ends: false });
  const open = 'GET /llms.txt HTTP/1.1\r\nHost: x\r\n\r\n';
  const answers = [];
  for (let i = 0; i < 9; i++) answers.push(await ask(service.port, open));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 429, 429, 429, 429],
  );
  t.same(
    answers.map(({ ends }) => ends),
    [false, false, false, false, false, false, false, false, true],
  );
});
