import { test } from 'tap';
import { readBasePrices, readCandles, readNodes } from '../../../src/client/page/answers.js';
import { CHART_INTERVALS, candlesOf, nextCandle } from '../../../src/client/page/live_candles.js';
import { sortChecks } from '../../../src/client/page/proof_checks.js';
import { RESOLUTIONS } from '../../../src/wire/rest_values.js';

const MINUTE_S = 60;
/** The start of 2026-11-22, a Sunday. */
const SUNDAY_S = Date.UTC(2026, 10, 22) / 1000;

test('candles and quotes', async (t) => {
  const candles = { s: 'ok', t: [1, 2], o: [1, 1], h: [1, 1], l: [1, 1], c: [1, 1] };
  t.equal(readCandles(JSON.stringify(candles)).t.length, 2);
  t.equal(readCandles('{"s":"no_data"}').t.length, 0);
  t.throws(() => readCandles('{"s":"error","errmsg":"no such symbol"}'), /no such symbol/);
  t.throws(() => readCandles(JSON.stringify({ ...candles, c: [1] })), /differ in length/);
  const quotes = {
    d: [
      { s: 'ok', n: 'A', v: { prev_close_price: 2, lp: 3 } },
      { s: 'ok', n: 'ZERO', v: { prev_close_price: 0 } },
      { s: 'error', n: 'B', v: {} },
    ],
  };
  const read = [...readBasePrices(JSON.stringify(quotes))];
  t.same(read, [['A', { base: 2, last: 3 }]], 'from 0 there is no relative change');
});

test('nodes', async (t) => {
  const answer = { self: 3, nodes: [{ node: 1, name: 'a', role: 'leader' }] };
  t.same(readNodes(JSON.stringify({ data: answer })), answer);
  t.throws(() => readNodes('{"data":{"self":0}}'), /nodes is not a list/);
});

test('thirteen intervals have the sixteen names of resolutions', async (t) => {
  const names = CHART_INTERVALS.flatMap(({ resolution, alias }) => [resolution, ...(alias ? [alias] : [])]);
  t.same(names.sort(), [...RESOLUTIONS].sort());
});

test('a price moves the candle of its interval, or begins the next one', async (t) => {
  const [last] = candlesOf({ t: [SUNDAY_S], o: [5], h: [6], l: [4], c: [5] });
  const at = (price: number, atS: number) => nextCandle(last, '1', price, atS);
  t.same(at(7, SUNDAY_S + 59), { time: SUNDAY_S, open: 5, high: 7, low: 4, close: 7 });
  t.same(at(3, SUNDAY_S), { time: SUNDAY_S, open: 5, high: 6, low: 3, close: 3 });
  t.same(at(7, SUNDAY_S + 61), { time: SUNDAY_S + MINUTE_S, open: 7, high: 7, low: 7, close: 7 });
  t.equal(at(7, SUNDAY_S - 1), undefined, 'of an interval that is over');
  t.equal(nextCandle(undefined, '1W', 7, SUNDAY_S)?.time, SUNDAY_S - 6 * 86_400, 'weeks begin on Monday');
  t.equal(nextCandle(undefined, '1M', 7, SUNDAY_S)?.time, Date.UTC(2026, 10, 1) / 1000);
});

test('the checks of publishers stand beside them', async (t) => {
  const check = (name: string) => ({ name, status: 'ok' }) as const;
  const { byPublisher, others } = sortChecks(
    ['form', 'signed_prices[1] asset', 'signed_prices[0] asset', 'signed_prices[1] msg_hash'].map(check),
  );
  t.same(others, [check('form')]);
  t.same(byPublisher.get(1), [check('signed_prices[1] asset'), check('signed_prices[1] msg_hash')]);
  t.equal(byPublisher.size, 2);
});
