import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { PartedBody } from '../../../src/server/http/parted_body.js';
import { type CandleRun, jsonParts } from '../../../src/server/routes/candle_json.js';
import {
  HistoryReader,
  type HistoryResult,
  type InPieces,
  type ReadCandles,
  type WantedCandles,
} from '../../../src/server/routes/history_reader.js';
import type { Resolution } from '../../../src/wire/rest_values.js';
import { holds } from '../../holds.js';
import { sampleAsset } from '../../model/sample.js';
import { cases } from '../../tier.js';

const DAY_S = 86_400;
const FIRST_DAY = 20_500;
const DAYS = 6;
const LIMIT = 1_000;
const asset = sampleAsset({});
type DaySpan = { readonly first: number; readonly end: number };

/** Returns a reader of candles over six days. About every third quarter hour has candles, and the third day is empty. */
function readerOf(candlesMax: number) {
  const readCandles: ReadCandles = (_asset, resolution, fromS, toS) => {
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
  return readCandles;
}

/** Opens a history of six days. */
function historyOf(readCandles: ReadCandles, sealedDays: () => DaySpan, candlesPerRequestMax = LIMIT) {
  const candleDays = () => ({ first: FIRST_DAY, end: FIRST_DAY + DAYS });
  return new HistoryReader({ readCandles, candleDays, sealedDays, candlesPerRequestMax });
}

function done<T>(work: InPieces<T>): T {
  for (;;) {
    const { done: isDone, value } = work.next();
    if (isDone) return value;
  }
}

function textOf(runs: readonly CandleRun[] | 'too many'): string {
  return runs === 'too many' ? runs : String(new PartedBody(jsonParts(runs)));
}

function readText(reader: HistoryReader, wanted: WantedCandles, fromS: number): string {
  return textOf(done(reader.range(wanted, fromS)));
}

function lastOf(candles: CandleColumns, count: number): CandleColumns {
  const { t, o, h, l, c } = candles;
  const last = (column: number[]) => column.slice(-count);
  return { t: last(t), o: last(o), h: last(h), l: last(l), c: last(c) };
}

test('put together of days it is what JSON.stringify makes of the whole', async (t) => {
  for (const candlesMax of [LIMIT, 100]) {
    const readCandles = readerOf(candlesMax);
    const sealed = { first: FIRST_DAY, end: FIRST_DAY + DAYS - 1 };
    const reader = historyOf(readCandles, () => sealed, candlesMax);
    const time = fc.oneof(
      fc.integer({ min: (FIRST_DAY - 1) * DAY_S, max: (FIRST_DAY + DAYS + 1) * DAY_S }),
      fc.integer({ min: -1, max: DAYS + 1 }).map((day) => (FIRST_DAY + day) * DAY_S),
      fc.constantFrom(-1e15, 0, 1e15),
    );
    const resolution = fc.constantFrom<Resolution>('1', '5', '15', '60', '240');
    holds(
      t,
      fc.property(resolution, time, time, fc.integer({ min: 1, max: 500 }), (step, fromS, toS, count) => {
        const wanted = { asset, resolution: step, toS };
        const candles = readCandles(asset, step, fromS, toS);
        const expected = candles === 'too many' ? candles : JSON.stringify(candles);
        assert.equal(readText(reader, wanted, fromS), expected, `${step} ${fromS} ${toS}`);
        const all = readerOf(Number.POSITIVE_INFINITY)(asset, step, 0, toS);
        const last = lastOf(all as CandleColumns, count);
        const expectedLast = last.t.length > candlesMax ? 'too many' : JSON.stringify(last);
        assert.equal(textOf(done(reader.last(wanted, count))), expectedLast, `${step} ${count} ${toS}`);
      }),
      { numRuns: cases(500) },
    );
  }
});

/** Returns a reader of 1,000 sealed days, each of which has all its minutes. */
function fullReader(nowMs?: () => number) {
  const reads: number[] = [];
  const column = Array.from({ length: 1_440 }, (_, i) => 100_000.12345678901 + i * 1e-6);
  const reader = new HistoryReader(
    {
      readCandles(_asset, _resolution, fromS) {
        reads.push(fromS / DAY_S);
        const t = Array.from({ length: 1_440 }, (_, i) => fromS + i * 60);
        return { t, o: column, h: column, l: column, c: column };
      },
      candleDays: () => ({ first: 0, end: 1_000 }),
      sealedDays: () => ({ first: 0, end: 1_000 }),
      candlesPerRequestMax: 50_000,
    },
    nowMs,
  );
  const ask = (day: number, days = 1) =>
    reader.range({ asset, resolution: '1', toS: (day + days) * DAY_S }, day * DAY_S);
  return { reader, reads, ask };
}

test('days that were not asked for lately make room', async (t) => {
  const { reads, ask } = fullReader();
  for (let day = 0; day < 400; day++) {
    done(ask(day));
    done(ask(0));
  }
  done(ask(1));
  t.equal(reads.length, 401, 'day 0, which is asked for all the time, stays, and day 1 does not');
});

test('a long answer is made in turns, and those of a caller one after the other', async (t) => {
  let nowMs = 0;
  const { reader, reads, ask } = fullReader(() => {
    nowMs += 0.7;
    return nowMs;
  });
  function* lengthOf(day: number, days: number): InPieces<HistoryResult> {
    const runs = yield* ask(day, days);
    return { data: runs === 'too many' ? runs : String(runs.reduce((sum, { length }) => sum + length, 0)) };
  }
  t.same(reader.answer('alice', lengthOf(0, 1)), { data: '1440' }, 'a short one at once');
  reads.length = 0;
  const long = reader.answer('alice', lengthOf(10, 8));
  t.equal(reads.length, 2, 'the time of a turn is over after two days');
  const next = reader.answer('alice', lengthOf(30, 1));
  t.equal(reads.length, 2, 'the next one of the caller waits');
  t.same(reader.answer('bob', lengthOf(40, 1)), { data: '1440' }, 'another caller does not');
  const many = reader.answer('bob', lengthOf(50, 36));
  if (!('later' in long && 'later' in next && 'later' in many)) throw new Error('they come later');
  t.same(await next.later, { data: '1440' });
  t.same(await long.later, { data: '11520' });
  t.ok(reads.indexOf(30) > reads.indexOf(17), 'in order');
  t.same(await many.later, { data: 'too many' });
  function* failing(): InPieces<HistoryResult> {
    yield;
    yield;
    throw new Error('damaged');
  }
  const failed = reader.answer('alice', failing());
  t.ok('later' in failed && (await failed.later.catch(({ message }) => message)) === 'damaged');
  t.same(reader.answer('alice', lengthOf(0, 1)), { data: '1440' }, 'the caller is served again');
});

test('a day that may still change is written like a new one after each change', async (t) => {
  const number = fc.constantFrom(0, 12.5, 1e21);
  const prices = fc.record({ o: number, h: number, l: number, c: number });
  const one = fc.option(prices, { nil: undefined, freq: 4 });
  const startS = FIRST_DAY * DAY_S;
  const read = { fromS: startS, toS: startS + DAY_S };
  holds(
    t,
    fc.property(
      fc.array(fc.tuple(fc.array(one, { maxLength: 4 }), fc.nat(6)), { maxLength: 8 }),
      (changes) => {
        const minutes: Minute[] = [];
        const reader = historyOf(
          (_asset, _resolution, fromS, toS) => candlesOf(minutes, fromS, toS),
          () => ({ first: 0, end: 0 }),
        );
        for (const [added, place] of changes) {
          // A change at the end adds candles, and any other change replaces or removes some.
          minutes.splice(place, place % 3, ...added);
          for (const toS of [read.toS, startS + 60 * place, read.toS]) {
            const expected = JSON.stringify(candlesOf(minutes, read.fromS, toS));
            assert.equal(readText(reader, { asset, resolution: '1', toS }, read.fromS), expected);
          }
        }
      },
    ),
    { numRuns: cases(500) },
  );
});

/** The prices of a minute; `undefined` for a minute without a candle. */
type Minute = Readonly<Record<'o' | 'h' | 'l' | 'c', number>> | undefined;

/** Returns the candles of a day's first minutes. */
function candlesOf(minutes: readonly Minute[], fromS: number, toS: number): CandleColumns {
  const candles: CandleColumns = { t: [], o: [], h: [], l: [], c: [] };
  for (const [minute, prices] of minutes.entries()) {
    const atS = FIRST_DAY * DAY_S + minute * 60;
    if (prices === undefined || atS < fromS || atS >= toS) continue;
    for (const [name, number] of Object.entries({ t: atS, ...prices }))
      candles[name as keyof CandleColumns].push(number);
  }
  return candles;
}
