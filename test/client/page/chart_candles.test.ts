import { test } from 'tap';
import {
  endOf,
  movedCandle,
  RESOLUTIONS,
  readCandles,
  withGaps,
} from '../../../src/client/page/chart_candles.js';
import { RESOLUTIONS as SERVED } from '../../../src/wire/rest_values.js';

const prices = { open: 5, high: 6, low: 4, close: 5 };
const candle = (time: number) => ({ time, ...prices });

test('candles', async (t) => {
  const candles = { s: 'ok', t: [1, 2], o: [1, 1], h: [1, 1], l: [1, 1], c: [1, 1] };
  t.same(readCandles(JSON.stringify(candles))[1], { time: 2, open: 1, high: 1, low: 1, close: 1 });
  t.equal(readCandles('{"s":"no_data"}').length, 0);
  t.throws(() => readCandles('{"s":"error","errmsg":"no such symbol"}'), /no such symbol/);
});

test('the page offers each length of candles that the service has', async (t) => {
  const names = SERVED.filter((name) => !['D', 'W', 'M'].includes(name));
  t.same([...RESOLUTIONS.keys()].sort(), names.sort());
});

test('an interval ends where the next one begins', async (t) => {
  const startS = Date.UTC(2026, 10, 1) / 1_000;
  t.equal(endOf(startS, '15'), startS + 900);
  t.equal(endOf(startS, '1D'), startS + 86_400);
  t.equal(endOf(startS, '1W'), startS + 7 * 86_400);
  t.equal(endOf(startS, '1M'), Date.UTC(2026, 11, 1) / 1_000);
});

test('a price moves the candle of its interval, and no other', async (t) => {
  const at = (price: number, atS: number) => movedCandle(candle(60), '1', price, atS);
  t.same(at(7, 119), { time: 60, open: 5, high: 7, low: 4, close: 7 });
  t.same(at(3, 60), { time: 60, open: 5, high: 6, low: 3, close: 3 });
  t.equal(at(7, 120), undefined, 'of the next interval');
  t.equal(at(7, 59), undefined, 'of an interval that is over');
});

test('an interval without a price has an empty place in the chart', async (t) => {
  t.same(withGaps([], '1'), []);
  t.same(withGaps([candle(60), candle(120)], '1'), [candle(60), candle(120)]);
  t.same(withGaps([candle(60), candle(240)], '1'), [candle(60), { time: 120 }, { time: 180 }, candle(240)]);
  const [january, april] = [Date.UTC(2026, 0) / 1000, Date.UTC(2026, 3) / 1000];
  t.same(
    withGaps([candle(january), candle(april)], '1M').map(({ time }) => new Date(time * 1000).getUTCMonth()),
    [0, 1, 2, 3],
  );
  t.equal(withGaps([candle(0), candle(604_800)], '1').length, 2 + 24, 'a long gap has few places');
});
