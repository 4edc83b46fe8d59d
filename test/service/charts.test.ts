import { test } from 'tap';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS } from '../model/sample.js';
import { Feed, units } from './feed.js';
import { ask, get, startTestService } from './harness.js';
import { latestWhen } from './publishing.js';

// Tests of candles over REST, in the plain form and in the form for charts.

const SECOND_NS = 1_000_000_000n;
/** The start, Monday 2026-03-02 14:00:00 UTC, in seconds. */
const START_S = Number(START_NS / SECOND_NS);
const EARLIER_S = START_S - 3 * 86_400;
const SIGNED = [
  [EARLIER_S, 10],
  [EARLIER_S + 60, 8],
  [START_S, 9],
  [START_S + 60, 10],
] as const;

test('candles of signed prices, plain and for charts', async (t) => {
  const clock = new FakeClock(BigInt(EARLIER_S) * SECOND_NS);
  const asset = { max_age: '1s', clock_period: '86400s', delta_percent: 0.000001 };
  const assets = ['BTCUSD', 'ETHUSD', 'SILENT'].map((symbol, i) => ({ id: i + 1, symbol, ...asset }));
  const service = await startTestService(t, { assets }, { clock });
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  const sign = async (symbol: string, price: number) => {
    await feed.accept({ symbol, price: units(price) });
    await latestWhen(service, symbol, (aggregate) => aggregate.price === String(units(price)));
  };
  for (const [second, price] of SIGNED) {
    clock.timeNs = BigInt(second) * SECOND_NS;
    await sign('BTCUSD', price);
    if (second >= START_S) await sign('ETHUSD', 2 * price);
  }
  const udf = async (path: string) => (await get(`${service.url}/udf/${path}`)).json();

  await t.test('one request reads several assets, each as the history has them', async (t) => {
    const range = `resolution=1&from=${START_S}&to=${START_S + 61}`;
    const { data } = await ask(service, `/v1/candles?assets=SILENT,BTCUSD,SILENT&${range}`);
    const prices = [9, 10];
    const candles = { t: [START_S, START_S + 60], o: prices, h: prices, l: prices, c: prices };
    t.same(data, { SILENT: { t: [], o: [], h: [], l: [], c: [] }, BTCUSD: candles });
    t.same((await ask(service, `/v1/tradingview/history?symbol=BTCUSD&${range}`)).data, candles);
    t.same(await udf(`history?symbol=BTCUSD&${range}`), { s: 'ok', ...candles });
    t.match(await ask(service, `/v1/candles?assets=BTCUSD,NOPE&${range}`), { status: 400, error: /NOPE/ });
    const many = Array.from({ length: 101 }, (_, i) => `A${i}`);
    t.match(await ask(service, `/v1/candles?assets=${many}&${range}`), {
      error: /assets_per_request is 100/,
    });
  });

  await t.test('a chart counts candles back, and finds the time of older ones', async (t) => {
    const candles = (query: string) => udf(`history?symbol=BTCUSD&resolution=1&${query}`);
    t.match(await candles(`from=${START_S}&to=${START_S + 61}&countback=3`), {
      t: [EARLIER_S + 60, START_S, START_S + 60],
    });
    t.match(await candles(`from=0&to=${START_S + 61}&countback=1`), { s: 'ok', t: [START_S + 60] });
    const none = { s: 'no_data', nextTime: EARLIER_S + 60 };
    t.same(await candles(`from=${START_S - 86_400}&to=${START_S}`), none);
    t.same(await candles(`from=0&to=${EARLIER_S - 60}`), { s: 'no_data' });
  });

  await t.test(
    'quotes count the change from the last close before today, or from the first price',
    async (t) => {
      const today = { open_price: 9, high_price: 10, low_price: 9 };
      t.match(await udf('quotes?symbols=BTCUSD,ETHUSD,SILENT,NOPE'), {
        s: 'ok',
        d: [
          { s: 'ok', n: 'BTCUSD', v: { lp: 10, ch: 2, chp: 25, prev_close_price: 8, ...today } },
          { s: 'ok', n: 'ETHUSD', v: { lp: 20, ch: 2, prev_close_price: 18 } },
          { s: 'error', n: 'SILENT', v: {} },
          { s: 'error', n: 'NOPE', v: {} },
        ],
      });
      t.equal((await get(`${service.url}/udf/quotes?symbols=BTCUSD,`)).status, 400);
    },
  );
});

test('charts know the hours, the zone, the name and the class of an asset', async (t) => {
  const gold = { id: 9, symbol: 'XAUUSD', calendar: 'metals', name: 'Gold', class: 'metal' };
  const service = await startTestService(t, { assets: [gold, { id: 11, symbol: 'BTCUSD' }] });
  const read = async (path: string) => (await get(service.url + path)).json();
  const shown = {
    session: '1800-1700:23456',
    timezone: 'America/New_York',
    description: 'Gold',
    type: 'metal',
  };
  t.match(await read('/udf/symbols?symbol=XAUUSD'), shown);
  t.match(await read('/udf/symbols?symbol=BTCUSD'), { session: '24x7', timezone: 'Etc/UTC', type: 'crypto' });
  t.match(await read('/udf/symbols?symbol=NOPE'), { s: 'error', errmsg: /NOPE/ });
  t.match(await read('/udf/search?query=GOL'), [{ symbol: 'XAUUSD' }]);
  t.match(await read('/udf/search?query=&type=crypto'), [{ symbol: 'BTCUSD' }]);
});
