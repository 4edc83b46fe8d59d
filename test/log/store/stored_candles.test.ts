import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import { appendTo } from '../../../scripts/load/store_records.js';
import type { Holding } from '../../../src/log/records/holding.js';
import { openStore, type Store } from '../../../src/log/store/store.js';
import type { Asset } from '../../../src/model/asset.js';
import type { Price } from '../../../src/model/price.js';
import { RESOLUTIONS } from '../../../src/wire/rest_values.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { cases } from '../../tier.js';
import { atSecond, START_S, sampleAggregate, storeOptions } from './sample.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const ALL = Number.MAX_SAFE_INTEGER;

/** Copies all candles of a store to another store in any order, like the shared candles of a cluster. */
async function copyCandles(from: Store, to: Store, asset: Asset, lastS: number): Promise<void> {
  to.candles.closeRunning();
  const { first, end } = from.sealedDays(asset);
  for (let hour = end * 24; hour <= Math.floor(lastS / HOUR_S); hour++) {
    const record = from.candles.hour(asset, hour);
    if (record !== undefined) await to.candles.addHour(asset, hour, record);
  }
  for (let day = first; day < end; day++) {
    const record = from.candles.day(asset, day);
    if (record !== undefined) await to.candles.addDay(asset, day, record);
  }
}

function histories(store: Store, asset: Asset) {
  return RESOLUTIONS.map((resolution) => store.history(asset, resolution, 0, ALL, 1_000_000));
}

test('a store that gets candles and then a part of the records again has the same history', async (t) => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 90 }) },
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 2 * HOUR_S }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 2 * DAY_S }) },
  );
  const record = fc.record({
    step,
    price: fc.bigInt({ min: 1n, max: 10n ** 24n }),
    isCommitted: fc.nat(4).map((n) => n === 0),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 2, maxLength: 15 }),
      fc.nat(40),
      fc.nat(40),
      fc.nat(5),
      fc.boolean(),
      fc.boolean(),
      async (steps, knownRaw, replayedRaw, copiedRaw, isRestarted, isRepeated) => {
        // The other node was connected for the first records, then disconnected, and is connected again. The log begins at any
        // later record. If no later record exists when the candles are copied, the log repeats the newest record before its
        // beginning.
        const replayed = replayedRaw % (steps.length + 1);
        const known = Math.min(knownRaw % steps.length, replayed);
        const copied = Math.max(steps.length - copiedRaw, replayed, 1);
        const clock = new FakeClock(atSecond(START_S));
        const dir = t.testdir({ one: {}, other: {} });
        const options = storeOptions(join(dir, 'one'), { clock });
        const ofOther = storeOptions(join(dir, 'other'), { clock });
        const asset = options.assets[0]!;
        const one = await openStore(options);
        let other = await openStore(ofOther);
        const holdings: Holding[] = [];
        let atS = START_S;
        const append = async (some: typeof steps) => {
          for (const { step, price, isCommitted } of some) {
            atS += step;
            holdings.push(appendTo(one, sampleAggregate(asset, [], price as Price, atSecond(atS))));
            if (isCommitted) await one.durable();
          }
        };
        await append(steps.slice(0, copied));
        for (const holding of holdings.slice(0, known)) other.record(asset, holding);
        await other.durable();
        await copyCandles(one, other, asset, atS);
        if (isRestarted) {
          await other.close();
          other = await openStore(ofOther);
          // No record came after the first copy, so the candles are copied again.
          await copyCandles(one, other, asset, atS);
        }
        await append(steps.slice(copied));
        // Repeated records may be anywhere between the other records.
        const log = holdings
          .slice(replayed)
          .flatMap((holding, i) => (steps[i]!.isCommitted ? [holding, holding] : [holding]));
        const before = holdings[replayed - 1];
        if (before !== undefined && (copied === replayed || isRepeated)) log.unshift(before);
        for (const holding of log) other.record(asset, holding);
        await Promise.all([one.durable(), other.durable()]);
        const [expected, actual] = [histories(one, asset), histories(other, asset)];
        await Promise.all([one.close(), other.close()]);
        if (!isDeepStrictEqual(actual, expected))
          throw new Error(JSON.stringify({ known, replayed, actual: actual[0], expected: expected[0] }));
      },
    ),
    { numRuns: cases(20) },
  );
});

test('the place in the log is kept with what was recorded', async (t) => {
  const options = storeOptions(t.testdir());
  let store = await openStore(options);
  for (const id of ['fedcba9876543210'.repeat(4), '0000000000000001'.repeat(4), '']) {
    store.log.position = { sequence: 9, id };
    await store.close();
    store = await openStore(options);
    t.same(store.log.position, { sequence: 9, id });
  }
  await store.close();
});
