import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import type { Price } from '../../src/model/price.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS } from '../model/sample.js';
import { Feed, units } from './feed.js';
import { ask, get, startTestService, type TestService } from './harness.js';

// Tests of candles over REST, in the plain form and in the form for charts.

const SECOND_NS = 1_000_000_000n;
/** The start, Monday 2026-03-02 14:00:00 UTC, in seconds. */
const START_S = Number(START_NS / SECOND_NS);
const DAY_S = 86_400;

interface Candles {
  readonly t: number[];
  readonly o: number[];
  readonly h: number[];
  readonly l: number[];
  readonly c: number[];
}

/** Starts a service with an asset that was signed with these prices at these UNIX seconds. */
async function serviceWith(
  t: Test,
  signed: readonly (readonly [second: number, price: Price])[],
): Promise<TestService & { clock: FakeClock }> {
  const clock = new FakeClock(BigInt(signed[0]?.[0] ?? START_S) * SECOND_NS);
  const asset = { id: 1, symbol: 'BTCUSD', max_age: '1s', clock_period: '86400s', delta_percent: 0.000001 };
  const service = await startTestService(t, { assets: [asset, { id: 2, symbol: 'SILENT' }] }, { clock });
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  for (const [second, price] of signed) {
    clock.timeNs = BigInt(second) * SECOND_NS;
    await feed.accept({ symbol: 'BTCUSD', price });
    await eventually(async () => {
      const { data } = await ask(service, '/v1/prices/latest?assets=BTCUSD');
      return (data as { BTCUSD?: { price: string } }).BTCUSD?.price === String(price);
    });
  }
  return { ...service, clock };
}

async function history(service: TestService, resolution: string, from: number, to: number) {
  const query = `symbol=BTCUSD&resolution=${resolution}&from=${from}&to=${to}`;
  return (await ask(service, `/v1/tradingview/history?${query}`)).data as Candles;
}

test('one request reads the candles of several assets, each as the history has them', async (t) => {
  const service = await serviceWith(t, [
    [START_S, units(1)],
    [START_S + 60, units(2)],
  ]);
  const range = `resolution=1&from=0&to=${START_S + 61}`;
  const { data } = await ask(service, `/v1/candles?assets=SILENT,BTCUSD,SILENT&${range}`);
  t.same(data, {
    SILENT: { t: [], o: [], h: [], l: [], c: [] },
    BTCUSD: await history(service, '1', 0, START_S + 61),
  });
  const refused: readonly [query: string, error: RegExp][] = [
    [`assets=BTCUSD,NOPE&${range}`, /^assets .*NOPE/],
    [`assets=&${range}`, /^assets /],
    [`assets=BTCUSD&signature_type=stark&${range}`, /stark/],
    [`assets=BTCUSD&resolution=3&from=0&to=1`, /^resolution /],
    [`assets=BTCUSD&resolution=1&from=${START_S}000&to=${START_S}000`, /^from .*milliseconds/],
    [`assets=${Array.from({ length: 101 }, (_, i) => `A${i}`)}&${range}`, /assets_per_request is 100/],
  ];
  for (const [query, error] of refused)
    t.match(await ask(service, `/v1/candles?${query}`), { status: 400, error }, query.slice(0, 60));
});

test('a chart finds its configuration, its symbols and its candles below /udf', async (t) => {
  const service = await serviceWith(t, [
    [START_S - 3 * DAY_S, units(1)],
    [START_S, units(2)],
    [START_S + 60, units(3)],
  ]);
  const udf = async (path: string) => {
    const response = await get(`${service.url}/udf/${path}`);
    return path === 'time' ? response.text() : response.json();
  };
  t.match(await udf('config'), {
    supports_search: true,
    supports_time: true,
    supported_resolutions: ['1', '2'],
  });
  t.equal(await udf('time'), String(START_S + 60));
  t.match(await udf('symbols?symbol=BTCUSD'), { name: 'BTCUSD', ticker: 'BTCUSD', has_intraday: true });
  t.match(await udf('symbols?symbol=NOPE'), { s: 'error', errmsg: /NOPE/ });
  t.match(await udf('search?query=btc&limit=10'), [{ symbol: 'BTCUSD' }]);
  t.equal(((await udf('search?query=&limit=1')) as unknown[]).length, 1);
  t.equal((await get(`${service.url}/udf/search?limit=x`)).status, 400);

  const candles = (query: string) => udf(`history?symbol=BTCUSD&resolution=1&${query}`);
  t.same(await candles(`from=${START_S}&to=${START_S + 61}`), {
    s: 'ok',
    t: [START_S, START_S + 60],
    o: [2, 3],
    h: [2, 3],
    l: [2, 3],
    c: [2, 3],
  });
  t.match(await candles(`from=${START_S}&to=${START_S + 61}&countback=3`), {
    t: [START_S - 3 * DAY_S, START_S, START_S + 60],
  });
  t.match(await candles(`from=0&to=${START_S + 61}&countback=1`), { s: 'ok', t: [START_S + 60] });
  t.same(await candles(`from=${START_S - DAY_S}&to=${START_S}`), {
    s: 'no_data',
    nextTime: START_S - 3 * DAY_S,
  });
  t.same(await candles(`from=0&to=${START_S - 4 * DAY_S}`), { s: 'no_data' });
  t.match(await candles('from=0&to=99999999999'), { s: 'ok', t: [START_S - 3 * DAY_S] });
  t.match(await udf('history?symbol=BTCUSD&resolution=3&from=0&to=1'), { s: 'error', errmsg: /resolution/ });
  t.match(await udf(`history?symbol=SILENT&resolution=1&from=0&to=${START_S}&countback=5`), { s: 'no_data' });
});

test('quotes count the change from the last close before today, or from the first price', async (t) => {
  const service = await serviceWith(t, [
    [START_S - 3 * DAY_S, units(10)],
    [START_S - 3 * DAY_S + 60, units(8)],
    [START_S, units(9)],
    [START_S + 60, units(10)],
  ]);
  const quotes = async (query: string) => (await get(`${service.url}/udf/quotes?${query}`)).json();
  t.match(await quotes('symbols=BTCUSD,SILENT,NOPE'), {
    s: 'ok',
    d: [
      {
        s: 'ok',
        n: 'BTCUSD',
        v: { lp: 10, ch: 2, chp: 25, prev_close_price: 8, open_price: 9, high_price: 10, low_price: 9 },
      },
      { s: 'error', n: 'SILENT', v: {} },
      { s: 'error', n: 'NOPE', v: {} },
    ],
  });
  t.match(await quotes('symbols=BTCUSD&signature_type=stark'), { d: [{ s: 'error', n: 'BTCUSD' }] });
  for (const query of [
    '',
    'symbols=',
    'symbols=BTCUSD,',
    `symbols=${Array.from({ length: 101 }, (_, i) => `A${i}`)}`,
  ])
    t.equal((await get(`${service.url}/udf/quotes?${query}`)).status, 400, query.slice(0, 40));

  const young = await serviceWith(t, [
    [START_S, units(4)],
    [START_S + 60, units(3)],
  ]);
  const { d } = (await (await get(`${young.url}/udf/quotes?symbols=BTCUSD`)).json()) as { d: object[] };
  t.match(d, [{ v: { ch: -1, chp: -25, prev_close_price: 4 } }]);
});

test('charts know the hours, the zone, the name and the class of an asset', async (t) => {
  const gold = { id: 9, symbol: 'XAUUSD', calendar: 'metals', name: 'Gold', class: 'metal' };
  const service = await startTestService(t, {
    assets: [{ id: 2, symbol: 'AAPL', calendar: 'us_equities' }, gold, { id: 11, symbol: 'BTCUSD' }],
  });
  const read = async (path: string) => JSON.parse(await (await get(service.url + path)).text());
  t.match(await read('/udf/symbols?symbol=AAPL'), {
    session: '0400-2000:23456',
    timezone: 'America/New_York',
    description: 'AAPL',
    type: 'us_equities',
  });
  t.match(await read('/udf/symbols?symbol=XAUUSD'), {
    session: '1800-1700:23456',
    description: 'Gold',
    type: 'metal',
  });
  t.match(await read('/udf/symbols?symbol=BTCUSD'), { session: '24x7', timezone: 'Etc/UTC', type: 'crypto' });
  const symbols = async (query: string) =>
    (await read(`/udf/search?${query}`)).map(({ symbol }: { symbol: string }) => symbol);
  t.same(await symbols('query=GOL'), ['XAUUSD']);
  t.same(await symbols('query=&type=crypto'), ['BTCUSD']);
  t.same(await symbols('query=usd&limit=1'), ['XAUUSD']);
});
