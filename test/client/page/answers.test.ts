import { test } from 'tap';
import { readBasePrices, readCandles, readNodes } from '../../../src/client/page/answers.js';
import { barSpacing, CHART_INTERVALS, nextCandle } from '../../../src/client/page/live_candles.js';
import { outcomeText, plainName, publisherChecks } from '../../../src/client/page/proof_checks.js';
import { RESOLUTIONS } from '../../../src/wire/rest_values.js';

const MINUTE_S = 60;
/** The start of 2026-11-22, a Sunday. */
const SUNDAY_S = Date.UTC(2026, 10, 22) / 1000;

test('candles and quotes', async (t) => {
  const candles = { s: 'ok', t: [1, 2], o: [1, 1], h: [1, 1], l: [1, 1], c: [1, 1] };
  t.same(readCandles(JSON.stringify(candles))[1], { time: 2, open: 1, high: 1, low: 1, close: 1 });
  t.equal(readCandles('{"s":"no_data"}').length, 0);
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
  const last = { time: SUNDAY_S, open: 5, high: 6, low: 4, close: 5 };
  const at = (price: number, atS: number) => nextCandle(last, '1', price, atS);
  t.same(at(7, SUNDAY_S + 59), { time: SUNDAY_S, open: 5, high: 7, low: 4, close: 7 });
  t.same(at(3, SUNDAY_S), { time: SUNDAY_S, open: 5, high: 6, low: 3, close: 3 });
  t.same(at(7, SUNDAY_S + 61), { time: SUNDAY_S + MINUTE_S, open: 7, high: 7, low: 7, close: 7 });
  t.equal(at(7, SUNDAY_S - 1), undefined, 'of an interval that is over');
  t.equal(nextCandle(undefined, '1W', 7, SUNDAY_S)?.time, SUNDAY_S - 6 * 86_400, 'weeks begin on Monday');
  t.equal(nextCandle(undefined, '1M', 7, SUNDAY_S)?.time, Date.UTC(2026, 10, 1) / 1000);
});

test('checks have plain names, and those of publishers stand beside them', async (t) => {
  const check = (name: string, status: 'ok' | 'failed' | 'skipped' = 'ok') => ({ name, status });
  const checks = [
    check('form'),
    check('signed_prices[1] asset'),
    check('signed_prices[0] msg_hash', 'failed'),
    check('checksum', 'skipped'),
    check('acme_signed_price public_key', 'failed'),
  ];
  t.same(publisherChecks(checks).get(1), [check('signed_prices[1] asset')]);
  t.equal(publisherChecks(checks).size, 2);
  t.equal(
    outcomeText(checks, 'aggregate'),
    '2 of 4 checks of the aggregate failed: signed hash of publisher 1, signer',
  );
  t.equal(outcomeText(checks.slice(0, 2), 'frame'), '2 checks of the frame passed');
  t.same(['publisher_merkle_root', 'low s', 'signed before the instant', 'new'].map(plainName), [
    'Merkle root',
    'single form of the signature',
    'signed before the instant',
    'new',
  ]);
});

test('few candles fill the chart, very few keep their shape, and many show the newest', async (t) => {
  t.equal(barSpacing(56, 840), 15);
  t.equal(barSpacing(3, 840), 24);
  t.equal(barSpacing(5_000, 840), 8);
  t.equal(barSpacing(50, 0), 8, 'a chart that is not shown yet');
});
