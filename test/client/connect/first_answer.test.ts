import type { ServerResponse } from 'node:http';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { Client } from '../../../src/client/client.js';
import { NODE } from '../../../src/client/connect/node_platform.js';
import { serve } from '../../local_server.js';
import { FakeSchedule } from '../fake_schedule.js';

const HEDGE_MS = 1_000;

/** A service that answers, refuses, fails, or accepts a request without answering. */
interface FakeService {
  readonly url: string;
  /** The status of the service's answers; 0 for no answer. */
  status: number;
  asked: number;
  /** Requests without an answer. */
  readonly open: Set<ServerResponse>;
}

async function startService(t: Test, status: number): Promise<FakeService> {
  const url = await serve(t, (_request, response) => {
    service.asked += 1;
    if (service.status !== 0) {
      response.writeHead(service.status).end(JSON.stringify({ data: [url] }));
      return;
    }
    service.open.add(response);
    response.on('close', () => service.open.delete(response));
  });
  const service: FakeService = { url, status, asked: 0, open: new Set() };
  return service;
}

async function setUp(t: Test, ...statuses: readonly number[]) {
  const services = await Promise.all(statuses.map((status) => startService(t, status)));
  const fake = new FakeSchedule();
  const clock = { nowMs: Date.now() };
  const platform = { ...NODE, schedule: fake.schedule, nowMs: () => clock.nowMs };
  const urls = services.map(({ url }) => url);
  const client = new Client({ urls, signers: 'unchecked' }, platform);
  return { services, fake, clock, client };
}

test('a silent service costs a second once, and is asked last for 30 s', async (t) => {
  const { services, fake, clock, client } = await setUp(t, 0, 200);
  const [silent, other] = services as [FakeService, FakeService];
  const first = client.assets();
  await eventually(() => silent.asked === 1);
  t.equal(other.asked, 0);
  fake.run(HEDGE_MS);
  t.same(await first, [other.url]);
  await eventually(() => silent.open.size === 0);
  t.same(fake.pending, [], 'nothing waits for the silent one any more');

  for (let i = 0; i < 3; i += 1) t.same(await client.assets(), [other.url]);
  t.equal(silent.asked, 1);
  clock.nowMs += 30_000;
  silent.status = 200;
  t.same(await client.assets(), [silent.url]);
  t.same(fake.pending, []);
});

test('the first answer counts, be it a refusal', async (t) => {
  const { services, fake, client } = await setUp(t, 0, 0);
  const [first, second] = services as [FakeService, FakeService];
  const answer = client.assets();
  await eventually(() => first.asked === 1);
  fake.run(HEDGE_MS);
  await eventually(() => second.asked === 1);
  for (const response of first.open) response.end('{"data":["late"]}');
  t.same(await answer, ['late']);
  first.status = 200;
  t.same(await client.assets(), [first.url], 'that the second one had not answered is not held against it');

  first.status = 0;
  second.status = 403;
  const refused = client.assets();
  await eventually(() => first.open.size === 1);
  fake.run(HEDGE_MS);
  await t.rejects(refused, { name: 'RefusedError', status: 403, url: second.url });
  await t.rejects(client.latest('BTCUSD' as never), TypeError);
  t.same(fake.pending, []);
});
