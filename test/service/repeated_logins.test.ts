import { test } from 'tap';
import { publisherSigner, startTestService, type TestService, TestSocket } from './harness.js';
import { loginHeaders } from './login_headers.js';
import { altered, publish, refusalOf, UNIT } from './publishing.js';

// Tests of logins by signature that somebody has seen and repeats. Every operator at which an agent logs in sees the login. None of them may
// keep the agent out at another operator.

const SECOND_NS = 1_000_000_000n;
const nowNs = () => BigInt(Date.now()) * 1_000_000n;
/** A login that was signed some seconds ago. */
const seen = (secondsAgo: bigint) => loginHeaders(1, 'evm', nowNs() - secondsAgo * SECOND_NS);
const update = (price = UNIT) => publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs: nowNs() });

function open({ socketUrl }: TestService, headers: Record<string, string>): Promise<TestSocket> {
  return TestSocket.open(`${socketUrl}/evm/publish?ack=true`, null, headers);
}

test('a login opens four connections, however often it is repeated and its time is written anew', async (t) => {
  const service = await startTestService(t);
  const login = seen(5n);
  const tries = await Promise.allSettled(
    Array.from({ length: 40 }, (_, i) => {
      const second = BigInt(login['X-Timestamp']!) / SECOND_NS;
      return open(service, { ...login, 'X-Timestamp': String(second * SECOND_NS + BigInt(i)) });
    }),
  );
  const opened = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  t.equal(opened.length, 4);
  for (const one of tries)
    if (one.status === 'rejected') t.match(one.reason.message, /^429 .*this login has opened 4 connections/);
  await Promise.all(opened.map((socket) => socket.close()));
  await t.rejects(open(service, login), /^429 /, 'nor does it open one for each that ends');
  await (await open(service, seen(0n))).close();
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, 'tickseal_logins_refused_total{reason="used up"} 37\n');
});

test('the newest login gets the place of a connection that sends nothing new', async (t) => {
  const service = await startTestService(t, { limits: { publish_connections_per_token: 4 } });
  const real = await open(service, seen(9n));
  const second = (nowNs() / SECOND_NS) * SECOND_NS;
  const copyOf = (offset: bigint) =>
    publisherSigner(1).sign({ symbol: 'BTCUSD', price: UNIT, timestampNs: second + offset });
  t.equal(await refusalOf(real, copyOf(1n)), undefined);
  const copies = [
    await open(service, seen(8n)),
    await open(service, seen(7n)),
    await open(service, seen(6n)),
  ];
  const last = copies[2]!;
  t.equal(await refusalOf(copies[0]!, copyOf(2n)), undefined, 'everybody can send this again');
  t.equal(await refusalOf(last, update(2n * UNIT)), undefined, 'this one has sent something new');

  await t.rejects(open(service, seen(20n)), /^429 .*publish_connections_per_token/, 'not an older login');
  const newest = await open(service, seen(5n));
  t.match(
    await copies[0]!.closed,
    { code: 1008, reason: /newer login/ },
    'the oldest login without an update',
  );
  const next = await open(service, seen(4n));
  t.match(await copies[1]!.closed, { code: 1008, reason: /newer login/ });
  await open(service, seen(3n));
  t.match(await newest.closed, { code: 1008, reason: /newer login/ });
  for (const socket of [real, last]) t.equal(await refusalOf(socket, update(3n * UNIT)), undefined);
  await next.close();
});

test('a login of a key that somebody repeats uses up nothing of the one that sends new updates', async (t) => {
  const limits = {
    bad_signatures_per_second: 8,
    bad_messages_per_second: 16,
    publish_bytes_per_second: '64 KiB',
    publish_message_bytes: '16 KiB',
  };
  const service = await startTestService(t, { limits });
  const real = await open(service, seen(1n));
  t.equal(await refusalOf(real, update()), undefined);
  for (const secondsAgo of [9n, 8n, 7n, 6n]) {
    const copy = await open(service, seen(secondsAgo));
    const forged = altered(update(), { r: `0x${'1'.repeat(64)}` });
    for (let i = 0; i < 4; i++) t.match(await refusalOf(copy, forged), /^signature /);
    for (let i = 0; i < 20; i++) copy.send('x'.repeat(15 * 1024));
    t.match(await copy.closed, { code: 1008, reason: /bad_messages_per_second/ });
  }
  const long = Object.fromEntries([...'x'.repeat(24)].map((_, i) => [`A${i}`, update()]));
  const answer = await publish(real, { ...long, BTCUSD: update(2n * UNIT) });
  t.same(answer.accepted, ['BTCUSD'], 'a message of most of the budget');
  await (await open(service, seen(0n))).close();
});
