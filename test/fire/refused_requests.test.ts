import { test } from 'tap';
import { FakeClock } from '../clock/fake_clock.js';
import { get, startTestService } from '../service/harness.js';
import { RawHttp } from '../service/raw_http.js';
import { THREAD_COUNTS } from '../tier.js';

const LIMIT = 20;
const HEAD = 'Host: test\r\nX-Forwarded-For: ';
const REQUESTS: Readonly<Record<string, (client: string) => string>> = {
  'an unknown path': (client) => `GET /x HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
  'no token': (client) => `GET /v1/taxonomy HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
  'a refused upgrade': (client) => `GET /ws HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
  'a wrong method': (client) => `PUT /v1/taxonomy HTTP/1.1\r\n${HEAD}${client}\r\n\r\n`,
};

/** Sends a request and returns its status, and whether the connection then ends. */
async function ask(port: number, request: string): Promise<{ status: number; ends: boolean }> {
  const raw = await RawHttp.open(port);
  raw.write(request);
  const { status, headers } = await raw.response();
  raw.end();
  return { status, ends: headers.get('connection') === 'close' };
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
