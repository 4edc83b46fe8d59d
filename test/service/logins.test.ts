import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { get, publisherSigner, startTestService, type TestService, TestSocket, TOKEN } from './harness.js';
import { loginHeaders } from './login_headers.js';
import { refusalOf, UNIT } from './publishing.js';
import { RawHttp } from './raw_http.js';
import { FOLDER, skip } from './recordings.js';

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'ETHUSD' },
  { id: 3, symbol: 'DYDXUSD', signature_type: 'stark' },
];

const SECOND_NS = 1_000_000_000n;
const nowNs = () => BigInt(Date.now()) * 1_000_000n;
const publisher = (n: number, type: 'evm' | 'stark', assets = ['*']) => ({
  key: publisherSigner(n, type).publicKey,
  signature_type: type,
  oracle_id: 'tests',
  assets,
});
const symbolOf = { evm: 'BTCUSD', stark: 'DYDXUSD' };

/** Opens the socket of a publisher. @throws Error with the status and body of a refusal */
function open(
  service: TestService,
  type: 'evm' | 'stark',
  headers: Record<string, string>,
  path = 'publish',
) {
  return TestSocket.open(`${service.socketUrl}/${type}/${path}?ack=true`, null, headers);
}

for (const type of SIGNATURE_TYPES)
  test(`a publisher logs in with a signature of its ${type} key, and publishes for that key only`, async (t) => {
    const service = await startTestService(t, {
      assets: ASSETS,
      publishers: [publisher(1, type, [symbolOf[type]]), publisher(2, type)],
    });
    const socket = await open(service, type, loginHeaders(1, type));
    const update = (n: number, symbol = symbolOf[type]) =>
      publisherSigner(n, type).sign({ symbol, price: UNIT, timestampNs: nowNs() });
    t.equal(await refusalOf(socket, update(1)), undefined);
    t.match(await refusalOf(socket, update(2)), /does not cover this publisher_key/);
    const own = type === 'evm' ? 'ETHUSD' : 'BTCUSD';
    t.ok(await refusalOf(socket, update(1, own)), 'an asset that is not its own');

    const good = loginHeaders(1, type);
    const both = { ...good, Authorization: `Basic ${TOKEN}` };
    const forged = { ...good, 'X-Signature': loginHeaders(2, type)['X-Signature']! };
    const old = loginHeaders(1, type, nowNs() - 31n * SECOND_NS);
    await t.rejects(open(service, type, both), /^400 .*Authorization/);
    await t.rejects(open(service, type, loginHeaders(3, type)), /^403 .*X-Public-Key/);
    await t.rejects(open(service, type, old), /^401 .*too old/);
    await t.rejects(open(service, type, forged), /^401 .*X-Signature/);
    await t.rejects(open(service, type === 'evm' ? 'stark' : 'evm', good), /^403 .*X-Signature-Type/);
    await t.rejects(open(service, type, good, 'subscribe'), /^401 .*Authorization header is missing/);
    t.equal((await fetch(`${service.url}/v1/taxonomy`, { headers: good })).status, 401, 'REST takes tokens');
    service.reconfigure({ assets: ASSETS, publishers: [publisher(2, type)] });
    t.match(await socket.closed, { code: 4401, reason: /allow-list/ });
  });

test('failed logins of a key are limited like those of a token', async (t) => {
  const service = await startTestService(t, { limits: { failed_logins_per_minute: 2 } });
  const wrong = { ...loginHeaders(3, 'evm'), 'X-Signature': loginHeaders(1, 'evm')['X-Signature']! };
  for (const status of [401, 401, 429])
    await t.rejects(open(service, 'evm', wrong), new RegExp(`^${status} `));
});

test('logins that an agent sent', { skip }, async (t) => {
  const { logins } = JSON.parse(readFileSync(new URL('agent-logins.json', FOLDER), 'utf8')) as {
    logins: Record<string, string>[];
  };
  t.equal(logins.length, 6);
  const keys = new Map(logins.map((one) => [one['X-Public-Key']!, one['X-Signature-Type']!]));
  t.same(new Set(keys.values()), new Set(SIGNATURE_TYPES));
  const clock = { nowNs: () => (BigInt(logins[0]!['X-Timestamp']!) + 6n * SECOND_NS) as never };
  const service = await startTestService(
    t,
    {
      assets: ASSETS,
      publishers: [...keys].map(([key, signature_type]) => ({ key: key.toLowerCase(), signature_type })),
    },
    { clock },
  );
  for (const headers of logins) {
    const type = headers['X-Signature-Type'] as 'evm' | 'stark';
    await (await open(service, type, headers)).close();
    const answer = await fetch(
      `${service.url}/v1/registry/brokers?publisher_key=${headers['X-Public-Key']}`,
      { headers },
    );
    t.equal(answer.status, 200);
    const changed = { ...headers, 'X-Timestamp': String(BigInt(headers['X-Timestamp']!) - SECOND_NS) };
    await t.rejects(open(service, type, changed), /^401 .*X-Signature/);
  }
});

test('agents find where to publish what', async (t) => {
  const service = await startTestService(t, {
    service: { public_url: 'wss://prices.example.com/feed/' },
    assets: ASSETS,
    publishers: [publisher(1, 'evm'), publisher(3, 'evm', ['DYDXUSD']), publisher(1, 'stark')],
  });
  const ask = async (headers: Record<string, string>, key = headers['X-Public-Key']) => {
    const answer = await fetch(`${service.url}/v1/registry/brokers?publisher_key=${key}`, { headers });
    return `${answer.status} ${await answer.text()}`;
  };
  const url = (type: string) => `wss://prices.example.com/feed/${type}/publish`;
  t.equal(
    await ask(loginHeaders(1, 'evm')),
    `200 [{"publish_url":"${url('evm')}","asset_ids":["BTCUSD","ETHUSD"]}]`,
  );
  t.equal(await ask(loginHeaders(3, 'evm')), '200 []');
  const stark = loginHeaders(1, 'stark');
  const padded = `0x${stark['X-Public-Key']!.slice(2).padStart(64, '0')}`;
  t.equal(await ask(stark, padded), `200 [{"publish_url":"${url('stark')}","asset_ids":["DYDXUSD"]}]`);
  const target = `${service.url}/v1/registry/brokers?publisher_key=${stark['X-Public-Key']}`;
  t.equal((await get(target)).status, 401, 'a token is no login here');
  const many = Array.from({ length: 12 }, () => fetch(target, { headers: loginHeaders(1, 'stark') }));
  const statuses = (await Promise.all(many)).map(({ status }) => status);
  t.ok(statuses.includes(429), 'at most 5 a second');
});

test('the metadata of a publisher is bounded, and no other path takes a body', async (t) => {
  const service = await startTestService(t);
  const headers = Object.entries(loginHeaders(1, 'evm')).map(([name, value]) => `${name}: ${value}`);
  const post = async (path: string, body: string, ...more: string[]) => {
    const raw = await RawHttp.open(service.port);
    raw.request(`POST ${path}`, [...headers, ...more], body);
    const response = await raw.response();
    raw.end();
    return response;
  };
  const path = '/v1/publisher/metadata';
  const max = 64 * 1024;
  const length = (bytes: number) => `Content-Length: ${bytes}`;
  t.match(await post(path, 'x'.repeat(max), length(max)), { status: 200, body: '{}' });
  t.match(await post(path, '', length(max + 1)), { status: 413, body: /at most 65536/ });
  t.match(await post(path, 'ab', length(2), length(2)), { status: 400 }, 'two lengths');
  t.match(await post(path, '2\r\nab\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'), { status: 400 });
  t.match(await post(path, 'ab', length(2), 'X-Timestamp: 1'), { status: 401, body: /repeated/ });
  t.match(await post('/v1/taxonomy', 'ab', length(2)), { status: 400 });
});

// A login by signature is seen by every operator at which an agent logs in. None of them may keep the agent out at another operator.

/** A login that was signed some seconds ago. */
const seen = (secondsAgo: bigint) => loginHeaders(1, 'evm', nowNs() - secondsAgo * SECOND_NS);
const update = (price = UNIT) => publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs: nowNs() });

test('a login opens four connections, however often it is repeated and its time is written anew', async (t) => {
  const service = await startTestService(t);
  const login = seen(5n);
  const tries = await Promise.allSettled(
    Array.from({ length: 40 }, (_, i) => {
      const second = BigInt(login['X-Timestamp']!) / SECOND_NS;
      return open(service, 'evm', { ...login, 'X-Timestamp': String(second * SECOND_NS + BigInt(i)) });
    }),
  );
  const opened = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  t.equal(opened.length, 4);
  for (const one of tries)
    if (one.status === 'rejected') t.match(one.reason.message, /^429 .*this login has opened 4 connections/);
  await Promise.all(opened.map((socket) => socket.close()));
  await t.rejects(open(service, 'evm', login), /^429 /, 'nor does it open one for each that ends');
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, 'tickseal_logins_refused_total{reason="used up"} 37\n');
});

test('the newest login gets the place of a connection that sends nothing new', async (t) => {
  const service = await startTestService(t, { limits: { publish_connections_per_token: 4 } });
  const real = await open(service, 'evm', seen(9n));
  const second = (nowNs() / SECOND_NS) * SECOND_NS;
  const copyOf = (offset: bigint) =>
    publisherSigner(1).sign({ symbol: 'BTCUSD', price: UNIT, timestampNs: second + offset });
  t.equal(await refusalOf(real, copyOf(1n)), undefined);
  const copies = [
    await open(service, 'evm', seen(8n)),
    await open(service, 'evm', seen(7n)),
    await open(service, 'evm', seen(6n)),
  ];
  const last = copies[2]!;
  t.equal(await refusalOf(copies[0]!, copyOf(2n)), undefined, 'everybody can send this again');
  t.equal(await refusalOf(last, update(2n * UNIT)), undefined, 'this one has sent something new');

  await t.rejects(
    open(service, 'evm', seen(20n)),
    /^429 .*publish_connections_per_token/,
    'not an older login',
  );
  const newest = await open(service, 'evm', seen(5n));
  t.match(
    await copies[0]!.closed,
    { code: 1008, reason: /newer login/ },
    'the oldest login without an update',
  );
  for (const socket of [real, last]) t.equal(await refusalOf(socket, update(3n * UNIT)), undefined);
  await newest.close();
});
