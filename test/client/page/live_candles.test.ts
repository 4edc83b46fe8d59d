import { test } from 'tap';
import { gapCount, withGaps } from '../../../src/client/page/live_candles.js';

const prices = { open: 1, high: 1, low: 1, close: 1 };
const candle = (time: number) => ({ time, ...prices });

test('an interval without a price has an empty place in the chart', async (t) => {
  t.same(withGaps([], '1'), []);
  t.same(withGaps([candle(60), candle(120)], '1'), [candle(60), candle(120)]);
  t.same(withGaps([candle(60), candle(60)], '1'), [candle(60), candle(60)], 'the last candle again');
  t.same(withGaps([candle(60), candle(240)], '1'), [candle(60), { time: 120 }, { time: 180 }, candle(240)]);
  const [january, april] = [Date.UTC(2026, 0) / 1000, Date.UTC(2026, 3) / 1000];
  t.same(
    withGaps([candle(january), candle(april)], '1M').map(({ time }) => new Date(time * 1000).getUTCMonth()),
    [0, 1, 2, 3],
  );
  const week = withGaps([candle(0), candle(604_800)], '1');
  t.equal(gapCount([...week, candle(604_860), { time: 604_920 }, candle(604_980)]), 2);
  t.equal(week.length, 2 + 24, 'a long gap has few places');
  t.same(week.at(-2), { time: 604_740 }, 'next to the candle after it');
});
