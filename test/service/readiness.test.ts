import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { logFolderOf, segmentPath } from '../../src/log/disk/segment.js';
import { FORMATS } from '../../src/service/formats.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TestSocket } from './harness.js';
import { latestWhen } from './publishing.js';
import { RawHttp } from './raw_http.js';

// Tests of the answers of /readyz. `npm run torture -- disk handles` tests two further reasons, because they need a full disk
// and a process without file handles.

async function ask({ adminUrl }: TestService, path: string) {
  const response = await fetch(`${adminUrl}${path}`);
  return { status: response.status, type: response.headers.get('content-type'), body: await response.json() };
}

const OK = { status: 200, type: 'application/json', body: { data: 'ok' } };
const LOG = { segment: 1, segments_waiting: 0 };
const READY = { ...OK, body: { data: 'ok', version: 'unknown', formats: FORMATS, log: LOG } };

test('a service that drains lives and is not ready', async (t) => {
  const service = await startTestService(t);
  t.same(await ask(service, '/livez'), OK);
  t.same(await ask(service, '/readyz'), READY);
  // The number of streams is so large that closing them takes several rounds.
  await Promise.all(Array.from({ length: 80 }, () => TestSocket.open(`${service.socketUrl}/ws`)));
  const probes = await Promise.all([RawHttp.open(service.adminPort), RawHttp.open(service.adminPort)]);
  const stopped = service.stop();
  probes[0].request('GET /readyz');
  probes[1].request('GET /livez');
  t.match(await probes[0].response(), { status: 503, body: '{"error":"the service is shutting down"}' });
  t.match(await probes[1].response(), { status: 200, body: '{"data":"ok"}' });
  await stopped;
});

test('the admin listener answers only requests for a host that nobody else can let resolve to it', async (t) => {
  const service = await startTestService(t, { admin: { port: 0, allowed_hosts: ['Prices.internal'] } });
  const statusFor = async (host: string, line = 'GET /metrics') => {
    const probe = await RawHttp.open(service.adminPort);
    probe.write(`${line} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const { status } = await probe.response();
    probe.end();
    return status;
  };
  for (const host of ['127.0.0.1', '[::1]:9090', 'LOCALHOST:9090', 'prices.INTERNAL:9090'])
    t.equal(await statusFor(host), 200, host);
  for (const host of ['rebind.attacker.example', 'localhost.attacker.example', 'a@127.0.0.1.b', ''])
    for (const line of ['GET /metrics', 'GET /readyz', 'GET /livez'])
      t.equal(await statusFor(host, line), 421, `${line} ${host}`);
});

test('a service with a damaged log lives and is not ready, and says where the damage is', async (t) => {
  const dir = t.testdir();
  const clock = new FakeClock();
  const first = await startTestService(t, {}, { dir, clock });
  const feed = await Feed.open(first, { nowNs: () => clock.nowNs() });
  const past = { symbol: 'BTCUSD', price: units(1), timestampNs: clock.nowNs() };
  await feed.accept(past);
  clock.advance(10_000_000_000n);
  await feed.accept({ symbol: 'BTCUSD', price: units(2) });
  await latestWhen(first, 'BTCUSD', ({ price }) => price === `${units(2)}`);
  await first.stop();
  const segment = segmentPath(logFolderOf(join(dir, 'store')), 1);
  const bytes = readFileSync(segment);
  // The service starts with the newest price alone. This older price is in an earlier frame.
  bytes[bytes.indexOf(`"price":"${units(1)}"`) + 10]! ^= 1;
  writeFileSync(segment, bytes);

  const second = await startTestService(t, {}, { dir, clock });
  const { status, type, body } = await ask(second, '/readyz');
  t.same([status, type], [503, 'application/json']);
  t.match(body, { error: /0001\.log is damaged at byte \d+/ });
  t.same(await ask(second, '/livez'), OK, 'a restart would not help');
  t.match(await (await fetch(`${second.adminUrl}/metrics`)).text(), '\ntickseal_store_healthy 0\n');
  await second.stop();
});
