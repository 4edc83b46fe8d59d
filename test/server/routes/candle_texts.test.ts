import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import { CandleTexts, type ReadCandles } from '../../../src/server/routes/candle_texts.js';
import type { Resolution } from '../../../src/wire/rest_values.js';
import { holds } from '../../holds.js';
import { sampleAsset } from '../../model/sample.js';

const DAY_S = 86_400;
const FIRST_DAY = 20_500;
const DAYS = 6;
const LIMIT = 1_000;
const asset = sampleAsset({});

/** Returns a reader of candles over six days. About every third quarter hour has candles, and the third day is empty. */
function readerOf(candlesMax: number) {
  const reads: string[] = [];
  const readCandles: ReadCandles = (_asset, resolution, fromS, toS) => {
    reads.push(`${resolution} ${fromS} ${toS}`);
    const stepS = Number(resolution) * 60;
    const t: number[] = [];
    for (let quarter = 0; quarter < DAYS * 96; quarter++) {
      const startS = FIRST_DAY * DAY_S + quarter * 900;
      const isThere = quarter % 3 < 2 - (quarter % 7 === 0 ? 1 : 0) && Math.floor(quarter / 96) !== 2;
      if (isThere && startS % stepS === 0 && startS >= fromS && startS < toS) t.push(startS);
    }
    if (t.length > candlesMax) return 'too many';
    const column = (offset: number) => t.map((startS) => startS / 7 + offset);
    return { t, o: column(0), h: column(0.1), l: column(-1e-7), c: column(1e21) };
  };
  return { readCandles, reads };
}

test('put together of days it is what JSON.stringify makes of the whole', async (t) => {
  for (const candlesMax of [LIMIT, 100]) {
    const { readCandles } = readerOf(candlesMax);
    const sealed = { first: FIRST_DAY, end: FIRST_DAY + DAYS - 1 };
    const texts = new CandleTexts({
      readCandles,
      sealedDays: () => sealed,
      candlesPerRequestMax: candlesMax,
    });
    const time = fc.oneof(
      fc.integer({ min: (FIRST_DAY - 1) * DAY_S, max: (FIRST_DAY + DAYS + 1) * DAY_S }),
      fc.integer({ min: -1, max: DAYS + 1 }).map((day) => (FIRST_DAY + day) * DAY_S),
      fc.constantFrom(-1e15, 0, 1e15),
    );
    const resolution = fc.constantFrom<Resolution>('1', '5', '15', '60', '240');
    holds(
      t,
      fc.property(resolution, time, time, (step, fromS, toS) => {
        const whole = readCandles(asset, step, fromS, toS);
        const expected = whole === 'too many' ? whole : JSON.stringify(whole);
        assert.equal(texts.json(asset, step, fromS, toS), expected, `${step} ${fromS} ${toS}`);
      }),
      { numRuns: 500 },
    );
  }
});

test('a sealed day is read once, others every time, and deleted ones not at all', async (t) => {
  const { readCandles, reads } = readerOf(LIMIT);
  const sealed = { first: FIRST_DAY, end: FIRST_DAY + 2 };
  const texts = new CandleTexts({ readCandles, sealedDays: () => sealed, candlesPerRequestMax: LIMIT });
  const ask = () => {
    reads.length = 0;
    return JSON.parse(texts.json(asset, '15', FIRST_DAY * DAY_S, (FIRST_DAY + 6) * DAY_S)) as { t: number[] };
  };
  const first = ask();
  t.equal(reads.length, 4, 'what is before, two days, and what is behind');
  t.same(ask(), first);
  t.equal(reads.length, 2, 'what is before, and what is behind');
  sealed.first++;
  t.ok(ask().t[0]! >= FIRST_DAY * DAY_S, 'the reader says what of a deleted day there is');
  t.same(reads, [
    `15 ${FIRST_DAY * DAY_S} ${(FIRST_DAY + 1) * DAY_S}`,
    `15 ${(FIRST_DAY + 2) * DAY_S} ${(FIRST_DAY + 6) * DAY_S}`,
  ]);
});

test('two assets of one symbol have texts of their own', async (t) => {
  const stark = sampleAsset({ index: 1, signatureType: 'stark' });
  const texts = new CandleTexts({
    readCandles({ signatureType }, _resolution, fromS, toS) {
      const column = fromS < toS ? [signatureType === 'evm' ? 1 : 2] : [];
      return { t: column, o: column, h: column, l: column, c: column };
    },
    sealedDays: () => ({ first: FIRST_DAY, end: FIRST_DAY + 1 }),
    candlesPerRequestMax: LIMIT,
  });
  for (const [one, value] of [
    [asset, 1],
    [stark, 2],
    [asset, 1],
  ] as const) {
    const text = texts.json(one, '1', FIRST_DAY * DAY_S, (FIRST_DAY + 1) * DAY_S);
    t.same(JSON.parse(text).c, [value], one.signatureType);
  }
});

test('what is kept is bounded: days that were not asked for lately make room', async (t) => {
  const reads: number[] = [];
  // 1,440 candles of 18 characters for each number are 130,000 of the 32 million characters that are kept.
  const column = Array.from({ length: 1_440 }, (_, i) => 100_000.12345678901 + i * 1e-6);
  const readCandles: ReadCandles = (_asset, _resolution, fromS, toS) => {
    if (fromS < toS) reads.push(fromS / DAY_S);
    const those = fromS < toS ? column : [];
    return { t: those, o: those, h: those, l: those, c: those };
  };
  const texts = new CandleTexts({
    readCandles,
    sealedDays: () => ({ first: 0, end: 1_000 }),
    candlesPerRequestMax: LIMIT * 2,
  });
  const ask = (day: number) => texts.json(asset, '1', day * DAY_S, (day + 1) * DAY_S);
  for (let day = 0; day < 400; day++) {
    ask(day);
    ask(0);
  }
  t.equal(reads.length, 400, 'day 0, which is asked for all the time, stays');
  ask(399);
  t.equal(reads.length, 400, 'and so does the newest');
  ask(1);
  t.equal(reads.length, 401, 'an old one does not');
});
