import { createHash } from 'node:crypto';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { verifyAggregate } from '../../src/client/index.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS } from '../model/sample.js';
import { Feed, units } from './feed.js';
import { ask, get, namedToken, startTestService, type TestService, TOKEN } from './harness.js';
import { RawHttp } from './raw_http.js';

// Tests of REST on a running service: its prices, and what its configuration says. test/fire tests tokens, limits and raw requests, test/server each
// parameter.

const SECOND_NS = 1_000_000_000n;
/** Monday 2026-03-02 14:00:00 UTC, which is 9:00 in New York. */
const START_S = Number(START_NS / SECOND_NS);
const AUTHORIZATION = `Authorization: Basic ${TOKEN}`;

/** Waits until the latest price of an asset is `price`. */
const latestIs = (
  service: TestService,
  symbol: string,
  price: bigint,
): Promise<{ readonly trigger: string }> =>
  eventually(async () => {
    const aggregate = (await ask(service, `/v1/prices/latest?assets=${symbol}`)).data[symbol];
    return aggregate?.price === String(price) && aggregate;
  });

test('what a request cannot get is left out and named, if it says so', async (t) => {
  const token = 'bitcoin-only';
  const service = await startTestService(t, {
    assets: ['BTCUSD', 'ETHUSD'].map((symbol, id) => ({ id, symbol })),
    tokens: [namedToken(TOKEN), namedToken(token, { assets: ['BTCUSD'] })],
  });
  const feed = await Feed.open(service, { ack: 'durable' });
  await feed.accept({ symbol: 'BTCUSD', price: units(7) }, { symbol: 'ETHUSD', price: units(8) });
  await latestIs(service, 'BTCUSD', units(7));
  for (const path of ['latest?', `at?timestamp=${BigInt(Date.now()) * 1_000_000n}&`]) {
    const url = `/v1/prices/${path}assets=NOPE,BTCUSD,ETHUSD`;
    const { status, data, text } = await ask(service, `${url}&ignore_invalid=true`, token);
    t.same([status, Object.keys(data)], [200, ['BTCUSD']], path);
    t.match(text, /"invalid":\["NOPE","ETHUSD"\]/);
    t.ok((await ask(service, url, token)).status >= 400);
  }
});

test('latest has the assets with a live price, as long as they have one', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(
    t,
    {
      assets: [
        { id: 1, symbol: 'BTCUSD', max_age: '2s' },
        { id: 2, symbol: 'ETHUSD', max_age: '2s', min_publishers: 2 },
      ],
    },
    { clock },
  );
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  t.same((await ask(service, '/v1/prices/latest?assets=BTCUSD,ETHUSD')).data, {});
  await feed.accept({ symbol: 'BTCUSD', price: units(100) }, { symbol: 'ETHUSD', price: units(7) });
  t.match(await latestIs(service, 'BTCUSD', units(100)), { trigger: 'delta' });
  t.same(Object.keys((await ask(service, '/v1/prices/latest?assets=ETHUSD,BTCUSD')).data), ['BTCUSD']);
  await feed.accept({ symbol: 'ETHUSD', price: units(8), publisher: 2 });
  await latestIs(service, 'ETHUSD', units(15) / 2n);
  const plain = await ask(service, '/v1/prices/latest?assets=ETHUSD&quality=false');
  const [, text] = (
    await (await get(`${service.url}/v1/prices/latest?assets=ETHUSD&quality=true`)).text()
  ).split('"quality":');
  t.notOk('quality' in plain.data['ETHUSD'], 'only for those who ask');
  t.equal(
    text,
    `{"publishers":2,"newest_input_age_ns":1,"input_spread":"${units(1)}"}}}}`,
    'the inputs of the aggregate',
  );
  clock.advance(2n * SECOND_NS);
  const { data } = await ask(service, '/v1/prices/latest?assets=BTCUSD');
  t.match(data, { BTCUSD: {} }, 'max_age itself still counts');
  clock.advance(1n);
  await eventually(
    async () => Object.keys((await ask(service, '/v1/prices/latest?assets=BTCUSD,ETHUSD')).data).length === 0,
  );
});

test('recent serves what was in force at the end of a second, as it was signed', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(
    t,
    {
      assets: [{ id: 1, symbol: 'BTCUSD', max_age: '5s', clock_period: '86400s', delta_percent: 1 }],
    },
    { clock },
  );
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  const recent = (second: number) => ask(service, `/v1/prices/recent?timestamp=${second}&assets=BTCUSD`);
  const quote = async (price: number) => {
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    return latestIs(service, 'BTCUSD', units(price));
  };
  t.match(await recent(START_S), { status: 404, error: /timestamp/ }, 'none at all');

  await quote(100);
  clock.advance(SECOND_NS / 2n);
  const second0 = await quote(102);
  t.same((await recent(START_S)).data, { BTCUSD: second0 }, 'the current second has what there is so far');
  clock.timeNs = START_NS + SECOND_NS - 1n;
  const last0 = await quote(104);
  clock.timeNs = START_NS + SECOND_NS;
  const first1 = await quote(106);
  t.same((await recent(START_S)).data, { BTCUSD: last0 }, 'one nanosecond before the next second');
  t.same((await recent(START_S + 1)).data, { BTCUSD: first1 }, 'the first nanosecond of its second');
  clock.advance(3n * SECOND_NS);
  for (const second of [2, 3, 4])
    t.same((await recent(START_S + second)).data, { BTCUSD: first1 }, 'still in force');
  t.match(await recent(START_S - 1), { status: 404 });

  clock.advance(2n * SECOND_NS + 1n);
  await eventually(async () => (await recent(START_S + 6)).status === 404);
  t.same((await recent(START_S + 5)).data, { BTCUSD: first1 }, 'before it lost its price');
  t.match(await recent(START_S + 7), { status: 400, error: /^timestamp .*future/ });
  clock.timeNs = START_NS + 600n * SECOND_NS + SECOND_NS - 1n;
  t.same((await recent(START_S)).data, { BTCUSD: last0 }, '600 seconds old');
});

test('an answer to HEAD has the length of the body of GET, and leaves the connection as GET does', async (t) => {
  const service = await startTestService(t);
  const lengthOf = async (raw: RawHttp, line: string) => {
    raw.request(line, [AUTHORIZATION]);
    return (await raw.responseHead()).headers.get('content-length');
  };
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  const { body } = await get(`${service.url}/nope`).then(async (response) => ({
    body: await response.text(),
  }));
  for (let i = 0; i < 2; i++) t.equal(await lengthOf(raw, 'HEAD /nope'), String(body.length));
  t.equal(await lengthOf(raw, 'HEAD /v1/prices/range'), undefined, 'GET has another answer');
  raw.request('HEAD /nope', ['Content-Length: 5'], 'GET /');
  const refused = await raw.responseHead();
  t.equal(refused.status, 400);
  t.not(refused.headers.get('content-length'), '0');
  t.equal(refused.headers.get('connection'), 'close');
  await raw.closed;
});

test('a preflight of an allowed origin is answered for every path, without a body', async (t) => {
  const origin = 'https://app.example';
  const service = await startTestService(t, { listen: { port: 0, allowed_origins: [origin] } });
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  for (const path of ['/v1/prices/assets', '/nope']) {
    raw.request(`OPTIONS ${path}`, [
      `Origin: ${origin}`,
      'Access-Control-Request-Method: GET',
      'Access-Control-Request-Headers: authorization',
    ]);
    const { status, headers } = await raw.response();
    t.equal(status, 204, path);
    t.notOk(headers.has('content-length') || headers.has('content-type'));
    t.equal(headers.get('access-control-allow-origin'), origin);
    t.equal(headers.get('access-control-allow-headers'), 'Authorization, Last-Event-ID');
  }
  raw.request('GET /v1/taxonomy', [`Origin: ${origin}`, AUTHORIZATION]);
  t.match(await raw.response(), { status: 200, body: /taxonomy_id/ }, 'the connection goes on');
});

test('market status has three values in the shape of an aggregate, and nothing else', async (t) => {
  const clock = new FakeClock(START_NS + 1n);
  const assets = [
    { id: 2, symbol: 'AAPL', calendar: 'us_equities' },
    { id: 4, symbol: 'XAUUSD', calendar: 'metals', signature_type: 'stark' },
  ];
  const service = await startTestService(t, { assets }, { clock });
  const value = (id: string, price: number) => ({
    [id]: {
      timestamp: '#',
      asset_id: id,
      signature_type: 'evm',
      trigger: 'clock',
      price: String(price),
      service_signed_price: {
        encoded_asset_id: Buffer.from(id).toString('base64'),
        price: String(price),
        timestamped_signature: { timestamp: '#' },
      },
      signed_prices: [],
    },
  });
  const { status, text } = await ask(service, '/v1/market_status?asset_id=AAPL');
  t.equal(status, 200);
  t.same(JSON.parse(text.replaceAll(`:${START_NS + 1n}`, ':"#"')), {
    data: {
      ...value('AAPL_CURRENT_STATUS', 2),
      ...value('AAPL_NEXT_STATUS', 1),
      ...value('AAPL_CHANGE_TIME', START_S + 1800),
    },
  });
  const gold = await ask(service, '/v1/market_status?asset_id=XAUUSD');
  t.match(gold.data, { XAUUSD_CURRENT_STATUS: { price: '1', signature_type: 'stark' } });
});

test('taxonomy, algorithms and pushed assets are what the configuration says', async (t) => {
  const pushed = { ethereum: { mainnet: { Z: { delta: 0.5, staleness: 3600 } }, testnet: {} } };
  const service = await startTestService(t, {
    service: { taxonomy_id: 65_535 },
    assets: [{ id: 65_535, symbol: 'Z', name: 'Zed', class: 'letter' }],
    pushed_assets: pushed,
  });
  const { signers, assets } = (await ask(service, '/v1/taxonomy')).data;
  t.same(signers, [
    { address: service.evmAddress, signature_type: 'evm', role: 'aggregate' },
    { address: service.signerOf('stark'), signature_type: 'stark', role: 'aggregate' },
    { address: service.evmAddress, signature_type: 'evm', role: 'stream' },
  ]);
  const letter = { aggregation: 'median', calendar: 'none', full_name: 'Zed', class: 'letter' };
  t.same(assets[0], { asset_id: 65_535, name: 'Z', signature_type: 'evm', ...letter });
  for (const { definition, checksum } of (await ask(service, '/v1/algorithms')).data)
    t.equal(createHash('sha256').update(definition).digest('hex'), checksum);
  t.same((await ask(service, '/v0/deployments/service_pushed_assets')).data, pushed);
});

test('another service name stands in the identifiers, and asset IDs may be hashed', async (t) => {
  const service = await startTestService(t, {
    service: { name: 'acme', oracle_id: 'acme!', encoded_asset_id: 'keccak256' },
  });
  const encoded = (text: string) => `0x${Buffer.from(keccak256(Buffer.from(text))).toString('hex')}`;
  await (await Feed.open(service)).accept({ symbol: 'BTCUSD', price: units(1) });
  await (await Feed.open(service, { type: 'stark' })).accept({ symbol: 'DYDXUSD', price: units(2) });
  const { text, data } = await eventually(async () => {
    const answer = await ask(service, '/v1/prices/latest?assets=BTCUSD,DYDXUSD');
    return Object.keys(answer.data).length === 2 && answer;
  });
  t.match(data, {
    BTCUSD: { acme_signed_price: { price: String(units(1)), encoded_asset_id: encoded('BTCUSD') } },
    DYDXUSD: { acme_signed_price: { price: String(units(2)), encoded_asset_id: encoded('DYDXUSD') } },
  });
  t.notMatch(text, 'service_signed_price');
  t.match(verifyAggregate(text, { signers: 'unchecked', oracleId: 'acme!' }), [
    { verdict: 'recovered' },
    { verdict: 'recovered' },
  ]);
  t.match(await ask(service, '/v0/deployments/acme_pushed_assets'), { status: 200 });
  t.match(await ask(service, '/v0/deployments/service_pushed_assets'), { status: 404 });
});
