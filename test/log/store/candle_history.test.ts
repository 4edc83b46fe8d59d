import fc from 'fast-check';
import { test } from 'tap';
import { appendTo } from '../../../scripts/load/store_records.js';
import { eventually } from '../../../scripts/load/wait.js';
import { listSegments, logFolderOf } from '../../../src/log/disk/segment.js';
import { toDouble } from '../../../src/log/records/candle.js';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { openStore } from '../../../src/log/store/store.js';
import type { Price } from '../../../src/model/price.js';
import { RESOLUTIONS, type Resolution } from '../../../src/wire/rest_values.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { cases } from '../../tier.js';
import { atSecond, START_S, sampleAggregate, storeOptions, units, YEARS_MS } from './sample.js';

interface Tick {
  readonly atS: number;
  readonly price: Price;
}

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const ALL = Number.MAX_SAFE_INTEGER;

test('every resolution agrees with a slow computation from the raw ticks', async (t) => {
  // The steps take from seconds to weeks, so that minutes, hours, days, weeks and months all close. Some of them are empty.
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 90 }) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 2 * HOUR_S }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 2 * DAY_S }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 * DAY_S }) },
    // After the clock is set back, the time of a series stands still, and closed candles never change.
    { weight: 1, arbitrary: fc.integer({ min: -200, max: 0 }) },
  );
  const tick = fc.record({
    step,
    price: fc.bigInt({ min: -(10n ** 22n), max: 10n ** 24n }),
    after: fc.constantFrom('nothing', 'nothing', 'nothing', 'commit', 'restart'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 500 * DAY_S }),
      fc.array(tick, { minLength: 1, maxLength: 60 }),
      fc.array(fc.tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: 0, max: 400 })), {
        maxLength: 4,
      }),
      async (offsetS, steps, ranges) => {
        const dir = t.testdir();
        const options = storeOptions(dir, { clock: new FakeClock(atSecond(START_S)) });
        const asset = options.assets[0]!;
        let store = await openStore(options);
        const ticks: Tick[] = [];
        let atS = START_S + offsetS;
        for (const { step, price, after } of steps) {
          atS += step;
          ticks.push({ atS: Math.max(atS, ticks.at(-1)?.atS ?? atS), price: price as Price });
          appendTo(store, sampleAggregate(asset, [], price as Price, atSecond(atS)));
          if (after === 'commit') await store.durable();
          if (after === 'restart') {
            await store.close();
            store = await openStore(options);
          }
        }
        const firstS = ticks[0]!.atS;
        const cuts = [
          [0, ALL],
          ...ranges.map(([from, days]) => [firstS + from * DAY_S, firstS + (from + days) * DAY_S]),
        ];
        for (const resolution of RESOLUTIONS)
          for (const [fromS, toS] of cuts) {
            const expected = slowHistory(ticks, resolution, fromS!, toS!);
            const actual = store.history(asset, resolution, fromS!, toS!, 50_000);
            if (JSON.stringify(actual) !== JSON.stringify(expected))
              throw new Error(`${resolution} ${fromS}..${toS}: ${JSON.stringify({ actual, expected })}`);
          }
        await store.close();
      },
    ),
    { numRuns: cases(40) },
  );
});

test('the range: whole candles that start in from <= t < to, and the limit', async (t) => {
  const options = storeOptions(t.testdir());
  const asset = options.assets[0]!;
  const store = await openStore(options);
  for (let s = 0; s < 600; s += 30)
    appendTo(store, sampleAggregate(asset, [], units(s + 1), atSecond(START_S + s)));
  const starts = (resolution: Resolution, fromS: number, toS: number, max = 50_000) => {
    const candles = store.history(asset, resolution, fromS, toS, max);
    return candles === 'too many' ? candles : candles.t.map((s) => s - START_S);
  };
  t.same(starts('5', START_S, START_S + 301), [0, 300]);
  t.same(starts('5', START_S + 1, START_S + 300), []);
  t.same(starts('5', START_S + 1, START_S + 301), [300]);
  t.same(starts('1', 5, 5), []);
  t.same(starts('1', START_S + 600, START_S), []);
  t.equal(starts('1', 0, ALL, 10)?.length, 10, 'at the limit it works');
  t.equal(starts('1', 0, ALL, 9), 'too many');
  t.same(store.history(options.assets[1]!, 'W', 0, ALL, 10), { t: [], o: [], h: [], l: [], c: [] });
  await store.close();
});

test('months of candles whose retention time is over are deleted after a start', async (t) => {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(t.testdir(), { clock, candleRetentionMs: 10 * DAY_S * 1000 });
  const asset = options.assets[0]!;
  let store = await openStore(options);
  for (let day = 0; day < 60; day++)
    for (const hour of [1, 23])
      appendTo(
        store,
        sampleAggregate(asset, [], units(day), atSecond(START_S + day * DAY_S + hour * HOUR_S)),
      );
  const days = () =>
    (store.history(asset, 'D', 0, ALL, 1_000) as CandleColumns).t.map((s) => (s - START_S) / DAY_S);
  t.equal(days().length, 60);
  await store.close();
  clock.timeNs = atSecond(START_S + 60 * DAY_S);
  store = await openStore({ ...options, candleRetentionMs: YEARS_MS });
  await eventually(() => store.figures().oldestDay === START_S / DAY_S);
  // Until then, a start closes the minutes of this segment again.
  await store.marks.countStart();
  await eventually(() => listSegments(logFolderOf(options.dir)).length === 1);
  t.equal(days().length, 60);
  await store.close();
  store = await openStore(options);
  await eventually(() => store.figures().oldestDay === START_S / DAY_S + 31);
  t.same(
    days(),
    Array.from({ length: 29 }, (_, i) => 31 + i),
    'the month of the first day that is kept stays whole',
  );
  await store.close();
});

/** Computes the same answer from the raw ticks one by one, with calendar arithmetic. */
function slowHistory(
  ticks: readonly Tick[],
  resolution: Resolution,
  fromS: number,
  toS: number,
): CandleColumns {
  const byStart = new Map<number, Price[]>();
  for (const { atS, price } of ticks) {
    const startS = slowStart(resolution, atS);
    byStart.set(startS, [...(byStart.get(startS) ?? []), price]);
  }
  const candles: CandleColumns = { t: [], o: [], h: [], l: [], c: [] };
  for (const [startS, prices] of [...byStart].sort(([a], [b]) => a - b)) {
    if (startS < fromS || startS >= toS) continue;
    candles.t.push(startS);
    candles.o.push(toDouble(prices[0]!));
    candles.h.push(toDouble(prices.reduce((a, b) => (b > a ? b : a))));
    candles.l.push(toDouble(prices.reduce((a, b) => (b < a ? b : a))));
    candles.c.push(toDouble(prices.at(-1)!));
  }
  return candles;
}

function slowStart(resolution: Resolution, atS: number): number {
  const date = new Date(atS * 1000);
  date.setUTCSeconds(0, 0);
  if (/^\d+$/.test(resolution)) {
    const minuteOfDay = date.getUTCHours() * 60 + date.getUTCMinutes();
    date.setUTCHours(0, minuteOfDay - (minuteOfDay % Number(resolution)));
  } else {
    date.setUTCHours(0, 0);
    while (resolution.endsWith('W') && date.getUTCDay() !== 1) date.setUTCDate(date.getUTCDate() - 1);
    if (resolution.endsWith('M')) date.setUTCDate(1);
  }
  return date.getTime() / 1000;
}
