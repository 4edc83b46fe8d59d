import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { verifyAggregate } from '../../src/client/index.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS } from '../model/sample.js';
import { Feed, units } from './feed.js';
import { ask, get, namedToken, startTestService, type TestService, TOKEN } from './harness.js';
import { RawHttp } from './raw_http.js';

// Tests of REST on a running service: its prices. test/fire tests tokens, limits and raw requests, test/server each
// parameter.

const SECOND_NS = 1_000_000_000n;
/** Monday 2026-03-02 14:00:00 UTC, which is 9:00 in New York. */
const START_S = Number(START_NS / SECOND_NS);
const AUTHORIZATION = `Authorization: Basic ${TOKEN}`;

/** Waits until the latest price of an asset is `price`. */
function latestIs(
  service: TestService,
  symbol: string,
  price: bigint,
): Promise<{ readonly trigger: string }> {
  return eventually(async () => {
    const aggregate = (await ask(service, `/v1/prices/latest?assets=${symbol}`)).data[symbol];
    return aggregate?.price === String(price) && aggregate;
  });
}

test('what a request cannot get is left out and named, if it says so', async (t) => {
  const token = 'bitcoin-only';
  const service = await startTestService(t, {
    assets: ['BTCUSD', 'ETHUSD'].map((symbol, id) => ({ id, symbol })),
    tokens: [namedToken(TOKEN), namedToken(token, { assets: ['BTCUSD'] })],
  });
  const feed = await Feed.open(service, { ack: 'durable' });
  await feed.accept({ symbol: 'BTCUSD', price: units(7) }, { symbol: 'ETHUSD', price: units(8) });
  await latestIs(service, 'ETHUSD', units(8));
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const nowS = Math.floor(Date.now() / 1000);
  const candles = `candles?resolution=1&from=${nowS - 120}&to=${nowS + 60}&`;
  for (const path of [
    'prices/latest?',
    `prices/recent?timestamp=${nowS}&`,
    `prices/at?timestamp=${nowNs}&`,
    candles,
  ]) {
    const ask = async (assets: string, ignores: string) => {
      const headers = { Authorization: `Basic ${token}` };
      const query = `assets=${assets}${ignores === '' ? '' : `&ignore_invalid=${ignores}`}`;
      const response = await fetch(`${service.url}/v1/${path}${query}`, { headers });
      const body = (await response.json()) as { data?: object; invalid?: string[]; error?: string };
      return { status: response.status, assets: Object.keys(body.data ?? {}), invalid: body.invalid };
    };
    t.same(
      await ask('NOPE,BTCUSD,ETHUSD', 'true'),
      { status: 200, assets: ['BTCUSD'], invalid: ['NOPE', 'ETHUSD'] },
      path,
    );
    t.same(await ask('BTCUSD', 'true'), { status: 200, assets: ['BTCUSD'], invalid: [] }, path);
    t.same(await ask('BTCUSD', 'false'), { status: 200, assets: ['BTCUSD'], invalid: undefined }, path);
    t.match(await ask('NOPE,BTCUSD', ''), { status: path.startsWith('prices/at') ? 403 : 400 }, path);
    t.match(await ask('BTCUSD', 'yes'), { status: 400 }, path);
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
  t.same(Object.keys((await ask(service, '/v1/prices/latest?assets=ETHUSD,BTCUSD')).data), [
    'ETHUSD',
    'BTCUSD',
  ]);

  t.match(await ask(service, '/v1/prices/latest?assets=BTCUSD&quality=yes'), {
    status: 400,
    error: /^quality must be/,
  });
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
  t.match(
    (await ask(service, '/v1/prices/latest?assets=BTCUSD')).data,
    { BTCUSD: {} },
    'max_age itself still counts',
  );
  clock.advance(1n);
  await eventually(
    async () => Object.keys((await ask(service, '/v1/prices/latest?assets=BTCUSD,ETHUSD')).data).length === 0,
  );
  await feed.accept({ symbol: 'BTCUSD', price: units(101) });
  t.match(
    await latestIs(service, 'BTCUSD', units(101)),
    { trigger: 'delta' },
    'it comes back as a first price',
  );
});

test('recent serves what was in force at the end of a second, as it was signed', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(
    t,
    {
      assets: [
        { id: 1, symbol: 'BTCUSD', max_age: '5s', clock_period: '86400s', delta_percent: 1 },
        { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '5s', clock_period: '86400s' },
      ],
    },
    { clock },
  );
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  const recent = (second: number, assets = 'BTCUSD,DYDXUSD') =>
    ask(service, `/v1/prices/recent?timestamp=${second}&assets=${assets}`);
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
  t.match(await recent(START_S + 1, 'DYDXUSD'), { status: 404 });
  t.match(await recent(START_S - 1), { status: 404 });

  clock.advance(2n * SECOND_NS + 1n);
  await eventually(async () => (await recent(START_S + 6)).status === 404);
  t.same((await recent(START_S + 5)).data, { BTCUSD: first1 }, 'before it lost its price');
  t.match(await recent(START_S + 7), { status: 400, error: /^timestamp .*future/ });
  clock.timeNs = START_NS + 600n * SECOND_NS;
  const served = await (
    await get(`${service.url}/v1/prices/recent?timestamp=${START_S}&assets=BTCUSD`)
  ).text();
  t.match(verifyAggregate(served, { signers: [service.evmAddress] }), [{ verdict: 'verified' }]);
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
