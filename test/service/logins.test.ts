import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { get, publisherSigner, startTestService, type TestService, TestSocket, TOKEN } from './harness.js';
import { flat, loginHeaders } from './login_headers.js';
import { refusalOf, refusedUpgrade, UNIT } from './publishing.js';
import { FOLDER, skip } from './recordings.js';

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'ETHUSD' },
  { id: 3, symbol: 'DYDXUSD', signature_type: 'stark' },
];

const nowNs = () => BigInt(Date.now()) * 1_000_000n;
const publisher = (n: number, type: 'evm' | 'stark', assets = ['*']) => ({
  key: publisherSigner(n, type).publicKey,
  signature_type: type,
  oracle_id: 'tests',
  assets,
});
const symbolOf = { evm: 'BTCUSD', stark: 'DYDXUSD' };

function open(
  service: TestService,
  type: 'evm' | 'stark',
  headers: Record<string, string>,
  query = '?ack=true',
) {
  return TestSocket.open(`${service.socketUrl}/${type}/publish${query}`, null, headers);
}

async function refusal(service: TestService, path: string, headers: readonly string[]): Promise<string> {
  const { status, body } = await refusedUpgrade(service.url + path, headers);
  return `${status} ${(JSON.parse(body) as { error: string }).error}`;
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

    const path = `/${type}/publish`;
    const good = loginHeaders(1, type);
    const refusals: readonly [headers: readonly string[], reason: RegExp][] = [
      [[...flat(good), 'Authorization', `Basic ${TOKEN}`], /^400 .*Authorization/],
      [flat(loginHeaders(3, type)), /^403 X-Public-Key/],
      [flat(loginHeaders(1, type, nowNs() - 31n * 10n ** 9n)), /^401 .*too old/],
      [flat({ ...good, 'X-Signature': loginHeaders(2, type)['X-Signature']! }), /^401 X-Signature/],
    ];
    for (const [headers, reason] of refusals) t.match(await refusal(service, path, headers), reason);
    const otherPath = type === 'evm' ? '/stark/publish' : '/evm/publish';
    t.match(await refusal(service, otherPath, flat(good)), /^403 X-Signature-Type/);
    for (const stream of ['/ws', `/${type}/subscribe`])
      t.match(await refusal(service, stream, flat(good)), /^401 .*Authorization header is missing/);
    t.equal((await fetch(`${service.url}/v1/taxonomy`, { headers: good })).status, 401, 'REST takes tokens');
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    for (const reason of ['unknown', 'stale', 'signature', 'signature type'])
      t.match(metrics, `tickseal_logins_refused_total{reason="${reason}"} 1`);

    service.reconfigure({ assets: ASSETS, publishers: [publisher(2, type)] });
    t.match(await socket.closed, { code: 4401, reason: /allow-list/ });
    t.match(await refusal(service, path, flat(loginHeaders(1, type))), /^403 X-Public-Key/);
    const second = await open(service, type, loginHeaders(2, type));
    t.equal(await refusalOf(second, update(2)), undefined);
    await second.close();
  });

test('connections and failed logins of a key are limited like those of a token', async (t) => {
  const service = await startTestService(t, {
    limits: { connections_per_token: 2, failed_logins_per_minute: 2 },
  });
  const sockets = await Promise.all([1, 1, 2].map((n) => open(service, 'evm', loginHeaders(n, 'evm'))));
  t.match(
    await refusal(service, '/evm/publish', flat(loginHeaders(1, 'evm'))),
    /^429 the key has connections_per_token/,
  );
  await sockets[0]!.close();
  await (await open(service, 'evm', loginHeaders(1, 'evm'))).close();

  const wrong = flat({ ...loginHeaders(3, 'evm'), 'X-Signature': loginHeaders(1, 'evm')['X-Signature']! });
  for (const status of [401, 401, 429, 429])
    t.match(await refusal(service, '/evm/publish', wrong), new RegExp(`^${status} `));
  t.match(
    await refusal(service, '/evm/publish', flat(loginHeaders(3, 'evm'))),
    /^429 /,
    'its signature is not looked at',
  );
  await (await open(service, 'evm', loginHeaders(1, 'evm', nowNs() - 3n * 10n ** 9n))).close();
  await Promise.all(sockets.slice(1).map((socket) => socket.close()));
});

test('logins that an agent sent', { skip }, async (t) => {
  const { logins } = JSON.parse(readFileSync(new URL('agent-logins.json', FOLDER), 'utf8')) as {
    logins: Record<string, string>[];
  };
  t.equal(logins.length, 6);
  const keys = new Map(logins.map((one) => [one['X-Public-Key']!, one['X-Signature-Type']!]));
  t.same(new Set(keys.values()), new Set(SIGNATURE_TYPES));
  const clock = { nowNs: () => (BigInt(logins[0]!['X-Timestamp']!) + 6n * 10n ** 9n) as never };
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
    const changed = { ...headers, 'X-Timestamp': String(BigInt(headers['X-Timestamp']!) - 10n ** 9n) };
    t.match(await refusal(service, `/${type}/publish`, flat(changed)), /^401 X-Signature/);
  }
});

test('agents find where to publish what', async (t) => {
  const service = await startTestService(t, {
    service: { public_url: 'wss://prices.example.com/feed/' },
    assets: ASSETS,
    publishers: [
      publisher(1, 'evm'),
      publisher(2, 'evm', ['ETHUSD', 'DYDXUSD']),
      publisher(3, 'evm', ['DYDXUSD']),
      publisher(1, 'stark'),
    ],
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
  t.equal(await ask(loginHeaders(2, 'evm')), `200 [{"publish_url":"${url('evm')}","asset_ids":["ETHUSD"]}]`);
  t.equal(await ask(loginHeaders(3, 'evm')), '200 []');
  const stark = loginHeaders(1, 'stark');
  const padded = `0x${stark['X-Public-Key']!.slice(2).padStart(64, '0')}`;
  t.equal(await ask(stark, padded), `200 [{"publish_url":"${url('stark')}","asset_ids":["DYDXUSD"]}]`);
  t.match(await ask(stark, '0x1'), /^403 .*publisher_key/);
  t.match(await ask(loginHeaders(4, 'evm')), /^403 .*X-Public-Key/);
  const target = `${service.url}/v1/registry/brokers?publisher_key=${stark['X-Public-Key']}`;
  t.equal((await get(target)).status, 401, 'a token is no login here');
  let status = 200;
  for (let i = 0; i < 10 && status === 200; i++)
    status = (await fetch(target, { headers: loginHeaders(1, 'stark') })).status;
  t.equal(status, 429, 'at most 5 a second');
});
