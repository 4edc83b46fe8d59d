import { once } from 'node:events';
import { test } from 'tap';
import { get, publisherSigner, sha256, startTestService, TOKEN } from './harness.js';
import { latestWhen, openPublisher, publish, refusalOf, refusedUpgrade, UNIT } from './publishing.js';

const BASIC = ['Authorization', `Basic ${TOKEN}`];

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

test('who may open a publisher socket', async (t) => {
  const token = { requests_per_second: 1000 };
  const service = await startTestService({
    tokens: [
      { ...token, name: 'all', sha256: sha256(TOKEN), scopes: ['rest', 'stream', 'publish'] },
      { ...token, name: 'reader', sha256: sha256('reader'), scopes: ['rest', 'stream'] },
      { ...token, name: 'few', sha256: sha256('few'), scopes: ['publish'], assets: ['ETHUSD'] },
      {
        ...token,
        name: 'one',
        sha256: sha256('one'),
        scopes: ['publish'],
        publisher_keys: [publisherSigner(2).publicKey.toLowerCase()],
      },
    ],
    assets: [
      { id: 1, symbol: 'BTCUSD' },
      { id: 2, symbol: 'ETHUSD' },
    ],
  });
  t.teardown(() => service.stop());
  const refused = (path: string, headers: readonly string[]) =>
    refusedUpgrade(service.url + path, headers).then(({ status, headers: found, body }) => ({
      status,
      challenge: found['www-authenticate'],
      error: (JSON.parse(body) as { error: string }).error,
    }));

  for (const path of ['/evm/publish', '/stark/publish'])
    await t.test(`the token, at ${path}`, async (t) => {
      const unauthorized = { status: 401, challenge: /^Basic/, error: String };
      t.match(await refused(path, []), { ...unauthorized, error: /missing/ });
      t.match(await refused(path, ['Authorization', TOKEN]), unauthorized);
      t.match(await refused(path, ['Authorization', `Bearer ${TOKEN}`]), unauthorized);
      t.match(await refused(path, ['Authorization', 'Basic ']), unauthorized);
      t.match(await refused(path, ['Authorization', 'Basic unknown']), unauthorized);
      t.match(await refused(path, [...BASIC, ...BASIC]), { ...unauthorized, error: /repeated/ });
      t.match(await refused(path, ['Authorization', 'Basic reader']), { status: 403, error: /publish/ });
    });

  await t.test('the ack parameter', async (t) => {
    for (const query of ['ack=maybe', 'ack=TRUE', 'ack=', 'ack=1', 'ack=true%20']) {
      const { status, error } = await refused(`/evm/publish?${query}`, BASIC);
      t.equal(status, 400, query);
      t.match(error, /ack.*true.*false.*durable/);
    }
    t.match(await refused('/evm/publish?ack=true&ack=false', BASIC), { status: 400, error: /ack/ });
    t.match(await refused('/evm/publish?ack=%zz', BASIC), { status: 400, error: String });
    for (const query of ['', '?ack=true', '?ack=false', '?ack=durable', '?ack=tru%65'])
      await (await openPublisher(service, 'evm', { query })).close();
  });

  await t.test('other paths, methods and bodies', async (t) => {
    t.match(await refused('/rsa/publish', BASIC), { status: 404, error: String });
    t.match(await refused('/evm/publish/', BASIC), { status: 404, error: String });
    const plain = await get(`${service.url}/evm/publish`);
    t.ok(plain.status >= 400 && plain.status < 500, `a plain GET is answered ${plain.status}`);
    t.match(await plain.json(), { error: String });
    t.match(await refused('/evm/publish', [...BASIC, 'Content-Length', '2']), { status: 400, error: /body/ });
  });

  await t.test('a token limited to assets or publisher keys', async (t) => {
    const few = await openPublisher(service, 'evm', { token: 'few' });
    const signer = publisherSigner(1);
    const both = ['BTCUSD', 'ETHUSD'].map((symbol) =>
      signer.sign({ symbol, price: UNIT, timestampNs: nowNs() }),
    );
    const { accepted, rejected } = await publish(few, both);
    t.same(accepted, ['ETHUSD']);
    t.match(rejected, { BTCUSD: /token/ });

    const one = await openPublisher(service, 'evm', { token: 'one' });
    const sign = (n: number) =>
      publisherSigner(n).sign({ symbol: 'BTCUSD', price: UNIT, timestampNs: nowNs() });
    t.match(await refusalOf(one, sign(1)), /token.*publisher_key/);
    t.equal(await refusalOf(one, sign(2)), undefined);
    for (const socket of [few, one]) await socket.close();
  });
});

test('a publisher that never reads is neither closed nor slowed', async (t) => {
  const service = await startTestService({
    limits: { idle_timeout: '8s', publish_bytes_per_second: '64 MiB' },
  });
  t.teardown(() => service.stop());
  const silent = await openPublisher(service);
  silent.ws.pause();
  // Each answer repeats the 80 KB of names in its message. The answers have 24 MB in total, which is more than the system's
  // buffers hold.
  const data = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${i}`.padEnd(10_000, 'x'), {}]));
  const noise = JSON.stringify({ type: 'signed_prices', trace_id: 'noise', data });
  for (let i = 0; i < 300; i++) silent.send(noise);
  const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: 7n * UNIT, timestampNs: nowNs() });
  silent.send(
    JSON.stringify({ type: 'signed_prices', data: { BTCUSD: update } }, (_key, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    ),
  );
  const { price } = await latestWhen(service, 'BTCUSD');
  t.equal(price, `${7n * UNIT}`, 'what it sends still counts');
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, /^tickseal_\w*dropped\w*(?:\{[^}]*\})? [1-9]/m, 'dropped replies are counted');

  const other = await openPublisher(service);
  const next = publisherSigner(2).sign({ symbol: 'BTCUSD', price: UNIT, timestampNs: nowNs() });
  t.equal(await refusalOf(other, next), undefined);
  silent.ws.resume();
  const closed = once(silent.ws, 'close');
  silent.ws.terminate();
  await closed;
});
