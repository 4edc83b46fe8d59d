import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { sha256, startTestService, TestSocket } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';

// Tests that failed logins and requests to open routes are counted for each client. The same applies behind a proxy, for REST and
// for upgrades.

const DEPLOYMENTS = '/v1/deployments/evm';

for (const threads of THREAD_COUNTS) {
  test(`clients behind a trusted proxy are counted each by itself, ${threads} threads`, async (t) => {
    // The clock runs, because threads count by its shared time.
    const clock = new FakeClock(systemClock());
    const service = await startTestService(
      {
        listen: { port: 0, threads, trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8'] },
        limits: { failed_logins_per_minute: 4 },
        tokens: ['mine', 'other'].map((name) => ({
          name,
          sha256: sha256(name),
          scopes: ['rest', 'stream'],
          requests_per_second: 1_000,
        })),
      },
      { clock },
    );
    t.teardown(() => service.stop());
    const ask = async (forwardedFor: string, token: string, path = '/v1/taxonomy') => {
      const headers = { Authorization: `Basic ${token}`, 'X-Forwarded-For': forwardedFor };
      const response = await fetch(service.url + path, { headers });
      return response.status;
    };
    const upgrade = (forwardedFor: string, token: string) =>
      TestSocket.open(`${service.socketUrl}/ws`, token, { 'X-Forwarded-For': forwardedFor }).then(
        async (socket) => {
          await socket.close();
          return 101;
        },
        (error: Error) => Number(error.message.slice(0, 3)),
      );

    t.equal(await ask('198.51.100.1', 'mine'), 200);
    // Entries that the client itself wrote are before the proxies' entries, and do not count.
    t.equal(await ask('1.1.1.1, 198.51.100.1', 'x'), 401);
    t.equal(await upgrade('2.2.2.2, 198.51.100.1, 10.0.0.9', 'x'), 401);
    t.equal(await ask('::ffff:198.51.100.1', 'x'), 401, 'the same address');
    t.equal(await upgrade('198.51.100.1:4711', 'x'), 401);
    t.equal(await ask('198.51.100.1', 'x'), 429);
    t.equal(await upgrade('198.51.100.1', 'x'), 429);
    t.equal(await ask('198.51.100.1', 'other'), 429, 'not used from there before');
    t.equal(await upgrade('198.51.100.1', 'other'), 429);
    t.equal(await ask('198.51.100.1', 'mine'), 200);
    t.equal(await upgrade('198.51.100.1', 'mine'), 101);
    t.equal(await ask('198.51.100.2', 'other'), 200, 'another client of the proxy');
    t.equal(await upgrade('198.51.100.3', 'other'), 101);
    for (let i = 0; i < 4; i++) await ask(`2001:db8::${i}`, 'x');
    t.equal(await ask('2001:db8::ffff:1', 'x'), 429, 'one IPv6 block');
    t.equal(await ask('2001:db8:0:1::', 'x'), 401, 'another block');

    // The number of simultaneous requests. While they are answered, the limit allows fewer further requests than this, even on a busy
    // machine.
    const open = await Promise.all(Array.from({ length: 60 }, () => ask('198.51.100.4', '', DEPLOYMENTS)));
    t.ok(open.filter((status) => status === 200).length >= 5);
    t.ok(open.includes(429));
    t.equal(await ask('198.51.100.5', '', DEPLOYMENTS), 200);

    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    t.match(metrics, /^tickseal_logins_refused_total\{reason="unknown"\} 9$/m);
    t.match(metrics, /^tickseal_logins_refused_total\{reason="limited"\} 5$/m);
    clock.advanceMs(15_000);
    // Threads receive the new time with a tick.
    await eventually(async () => (await ask('198.51.100.1', 'other')) === 200);
  });
}

test('nobody is believed who is not a trusted proxy', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService({ limits: { failed_logins_per_minute: 4 } }, { clock });
  t.teardown(() => service.stop());
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) {
    const headers = { Authorization: 'Basic x', 'X-Forwarded-For': `198.51.100.${i}` };
    statuses.push((await fetch(`${service.url}/v1/taxonomy`, { headers })).status);
  }
  t.same(statuses, [401, 401, 401, 401, 429, 429]);
});
